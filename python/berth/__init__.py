"""Berth: AOTInductor-compiled libraries, run without libtorch.

`berth.export` makes programs that Berth runs; it needs torch and executorch.
Importing this package alone needs neither.
"""
