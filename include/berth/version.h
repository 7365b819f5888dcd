// The version of Berth. CMake reads it here.
#pragma once

#define BERTH_VERSION_MAJOR 0
#define BERTH_VERSION_MINOR 1
#define BERTH_VERSION_PATCH 0
#define BERTH_VERSION "0.1.0"
