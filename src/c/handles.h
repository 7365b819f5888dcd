// What the handles of the C interface are.
#pragma once

#include "berth/model.h"
#include "berth/package.h"
#include "berth/tensor.h"

struct berth_tensor {
  berth::Tensor tensor;
};

struct berth_package {
  berth::Package package;
};

struct berth_model {
  berth::Model model;
};
