"""Compiles a model with torch, then calls the package with Berth."""

import numpy as np
import torch
from torch._inductor import aoti_compile_and_package

import berth

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
x = torch.randn(2, 64)
aoti_compile_and_package(torch.export.export(model, (x,)), package_path="model.pt2")

# What follows needs no torch. The model is called as the module was, with NumPy's
# arrays, or torch's, or any that speak DLPack; it answers with NumPy's or torch's.
compiled = berth.load("model.pt2")
y = compiled(x.numpy())
print("largest difference from eager:", np.abs(y - model(x).detach().numpy()).max())
