// Puts an image where the loader can map it: a private file, whose name nothing
// from outside has a part in and which no other file of this process ever had.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/file.h"
#include "berth/options.h"
#include "berth/result.h"
#include "library/private_directory.h"
#include "library/written_image.h"

namespace berth::library {

// Owns     the file <directory>/berth-<uid>/<prefix>_<pid>_<counter>.so, which
//          it removes unless it is to be kept, and one descriptor of it, which
//          holds a lock that tells sweep() the file is in use. A process that
//          exits removes the files it still has; a forked child never removes
//          its parent's.
// Threads  a value with one owner; place() may run in any number of threads.
// Fails    kSystem when no directory will hold the file or let code be mapped
//          from it, with each directory and its reason.
class PlacedFile {
 public:
  // The directory is `options.temp_directory`, or, when that is empty, the
  // first that works of $BERTH_TMPDIR, $TMPDIR and /tmp. The first placement
  // of a process in a directory sweeps it.
  // `image` in parts, in order; `options.file_prefix` has been checked.
  static Result<PlacedFile> place(std::span<const base::Bytes> image,
                                  const ModelOptions& options);

  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&& other) noexcept;
  ~PlacedFile();

  // Absolute; kept after the removal.
  const std::string& path() const noexcept { return path_; }

  // The bytes that place() wrote; nothing the second time.
  WrittenImage take_written() noexcept { return std::move(written_); }

  // Removes the file early, to learn whether it went well. May be repeated. A
  // file that somebody else has removed is no error.
  Status remove();

 private:
  PlacedFile(base::Descriptor file, std::string path);
  static Result<PlacedFile> place_in(const std::string& parent,
                                     std::span<const base::Bytes> image,
                                     const ModelOptions& options);
  static Result<PlacedFile> create(const PrivateDirectory& directory,
                                   const ModelOptions& options);
  Result<bool> claim();
  void forget() noexcept;

  base::Descriptor file_;  // Empty: removed, or never ours.
  std::string path_;
  WrittenImage written_;
  bool keep_ = false;
  int owner_pid_;
};

}  // namespace berth::library
