// How a model is loaded.
#pragma once

#include <cstddef>
#include <string>

namespace berth {

// What a run does when every replica is running another one.
enum class WhenBusy {
  kWait,  // Until one is free.
  kFail,  // At once, with kBusy.
};

// A value. The defaults are right for nearly everyone.
struct ModelOptions {
  // Directory in which the library's private file is made. Empty: the
  // environment's BERTH_TMPDIR, then TMPDIR, then /tmp.
  std::string temp_directory;

  // First part of the file's name, <prefix>_<pid>_<counter>.so. Letters,
  // digits, '-' and '_' only.
  std::string file_prefix = "berth";

  // What to call the model in errors, for example a path and a method.
  std::string label;

  // The instruction set that the exporter recorded ("AVX2", "AVX512", ...).
  // Empty: unknown, not checked.
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
  // constants once a replica.
  std::size_t replicas = 1;

  // What a run beyond these does.
  WhenBusy when_busy = WhenBusy::kWait;
};

}  // namespace berth
