// The directory berth-<uid> in which a user's placed files lie, out of reach
// for every other user of a shared temp directory.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "berth/result.h"

namespace berth::library {

// Owns     a descriptor of the directory, not the directory: it stays when this
//          is gone, for the next process.
// Threads  immutable; share freely.
// Fails    kSystem, naming the directory and what is wrong with it.
class PrivateDirectory {
 public:
  // Makes <parent>/berth-<uid> or takes the one that is there. Refuses a
  // symbolic link, a directory of another user, and a mount that does not let
  // code be mapped. One of ours that others may enter is closed to them first.
  // A relative `parent` is taken from the current directory.
  static Result<PrivateDirectory> open(std::string_view parent);

  int fd() const noexcept { return directory_.get(); }

  // Absolute, without a slash at the end.
  const std::string& path() const noexcept { return path_; }

 private:
  PrivateDirectory(base::Descriptor directory, std::string path) noexcept
      : directory_(std::move(directory)), path_(std::move(path)) {}

  base::Descriptor directory_;
  std::string path_;
};

}  // namespace berth::library
