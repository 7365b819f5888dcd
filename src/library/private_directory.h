// The directory berth-<uid> in which a user's placed files lie, out of reach
// for every other user of a shared temp directory.
#pragma once

#include <string>

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
  // Refuses a `parent` that, itself or above, belongs to another user than root
  // or is open to everybody without being sticky; a group's rights are trusted.
  // A relative one is taken from the current directory; links that lead to it
  // are followed first.
  // What was found of an absolute one is remembered for the process.
  static Result<PrivateDirectory> open(const std::string& parent);

  int fd() const noexcept { return directory_.get(); }

  // Absolute, without a slash at the end.
  const std::string& path() const noexcept { return path_; }

 private:
  static Result<PrivateDirectory> verify(const std::string& parent);
  PrivateDirectory(base::Descriptor directory, std::string path) noexcept
      : directory_(std::move(directory)), path_(std::move(path)) {}

  base::Descriptor directory_;
  std::string path_;
};

}  // namespace berth::library
