// How a model is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/export.h"
#include "berth/result.h"

namespace berth {

// Where a library's bytes are put for the loader to map.
enum class Placement : std::uint8_t {
  // What the environment's BERTH_PLACEMENT says ("automatic", "file" or
  // "memory"), and automatic without it.
  kDefault,
  // In a file where that is possible, else in memory.
  kAutomatic,
  // In a private file, which debuggers and profilers can read.
  kFile,
  // In a sealed memfd: nothing on disk, and no temp directory that would have
  // to be writable or to allow code. Counts as memory of the process's group.
  kMemory,
};

// "automatic", "file" or "memory"; kInvalidArgument for anything else.
BERTH_API Result<Placement> parse_placement(std::string_view text);

// What a run does when every replica is running another one.
enum class WhenBusy {
  kWait,  // Until one is free.
  kFail,  // At once, with kBusy.
};

// A value. The defaults are right for nearly everyone.
struct ModelOptions {
  Placement placement = Placement::kDefault;

  // Directory in which the library's private file is made. Empty: the first
  // that works of the environment's BERTH_TMPDIR, TMPDIR, and /tmp. Neither it
  // nor a directory above it may be one that other users can replace: each
  // belongs to root or to this user, and is sticky where all may write to it.
  std::string temp_directory;

  // Leaves the file where it is, as <prefix>_<pid>_<counter>.kept.so, so that
  // gdb and perf find symbols after the library was closed. Nobody removes it
  // but you. Also on when the environment's BERTH_KEEP_FILES is "1".
  bool keep_files = false;

  // First part of the file's name, <prefix>_<pid>_<counter>.so. Letters,
  // digits, '-' and '_' only.
  std::string file_prefix = "berth";

  // What to call the model in errors, for example a path and a method.
  std::string label;

  // Which model of a package. Empty: "model", or the only one there is.
  std::string model_name;

  // The instruction set that the exporter recorded ("AVX2", "AVX512", ...).
  // Empty: what a package says, else unknown and not checked.
  std::string instruction_set;

  // How many runs may overlap, 1 to 1024. The compiled code keeps state of its
  // own outside of any call, so each replica is one more library, with a file
  // and an identity of its own. With 1, no two runs ever share that state, nor
  // the model's: they wait for each other.
  //
  // Constants are in memory once, for all replicas, those aside that the
  // library computes from others; a library that holds them itself has them in
  // each replica's file, too. What a run writes to them, which is how models
  // keep state, its replica alone sees: with more than 1, what a run finds
  // there depends on which one it gets, so a model that keeps state needs 1. A
  // library that lacks the functions to share (docs/compatibility.md) has its
  // constants once a replica. Sharing them takes memfd_create().
  std::size_t replicas = 1;

  // What a run beyond these does.
  WhenBusy when_busy = WhenBusy::kWait;
};

}  // namespace berth
