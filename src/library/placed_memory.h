// Puts an image where the loader can map it, without a file system: memory that
// has a descriptor and cannot be changed any more.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/file.h"
#include "berth/result.h"
#include "library/written_image.h"

namespace berth::library {

// Owns     the descriptor of a memfd, through which the loader opens it; it
//          closes on exec. /proc/<pid>/maps shows the memory as
//          /memfd:<prefix>_<pid>_<counter>.so.
// Threads  a value with one owner; place() may run in any number of threads.
// Fails    kSystem where the kernel or its policy refuses, or memory is short.
class PlacedMemory {
 public:
  // `image` in parts, in order. `prefix` has been checked.
  static Result<PlacedMemory> place(std::span<const base::Bytes> image,
                                    const std::string& prefix);

  // By which this process, and no other, opens it. Never the same twice.
  const std::string& path() const noexcept { return path_; }

  // The bytes that place() wrote; nothing the second time.
  WrittenImage take_written() noexcept { return std::move(written_); }

  // Gives the memory back once nothing maps it. May be repeated; never fails.
  Status remove() noexcept {
    memory_.reset();
    return ok();
  }

 private:
  PlacedMemory(base::Descriptor memory, std::string path,
               WrittenImage written) noexcept
      : memory_(std::move(memory)),
        path_(std::move(path)),
        written_(std::move(written)) {}

  base::Descriptor memory_;
  std::string path_;
  WrittenImage written_;
};

}  // namespace berth::library
