// Puts an image where the loader can map it: a private file, whose name nothing
// from outside has a part in and which no other file of this process ever had.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file.h"
#include "berth/options.h"
#include "berth/result.h"
#include "library/private_directory.h"

namespace berth::library {

// Owns     the file <directory>/berth-<uid>/<prefix>_<pid>_<counter>.so, which
//          it removes, and one descriptor of it, which holds a lock that tells
//          sweep() the file is in use. A process that exits removes the files
//          it still has; a forked child never removes its parent's.
// Threads  a value with one owner; place() may run in any number of threads.
// Fails    kInvalidArgument for a bad prefix; kSystem when no directory will
//          hold the file, with each directory and its reason.
class PlacedFile {
 public:
  // The directory is `options.temp_directory`, or, when that is empty, the
  // first that works of $BERTH_TMPDIR, $TMPDIR and /tmp. The first placement
  // of a process in a directory sweeps it.
  static Result<PlacedFile> place(base::Bytes image,
                                  const ModelOptions& options);

  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&& other) noexcept;
  ~PlacedFile();

  // Absolute; kept after the removal.
  const std::string& path() const noexcept { return path_; }

  // Removes the file early, to learn whether it went well. May be repeated. A
  // file that somebody else has removed is no error.
  Status remove();

 private:
  PlacedFile(base::Descriptor file, std::string path);
  static Result<PlacedFile> place_in(std::string_view parent, base::Bytes image,
                                     const std::string& prefix);
  static Result<PlacedFile> create(const PrivateDirectory& directory,
                                   const std::string& prefix);
  Result<bool> claim();
  Status fill(base::Bytes image);
  void forget() noexcept;

  base::Descriptor file_;  // Empty: removed, or never ours.
  std::string path_;
  int owner_pid_;
};

}  // namespace berth::library
