#include "library/placed_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "library/os.h"
#include "library/private_directory.h"
#include "library/setting.h"
#include "library/sweep.h"

namespace berth::library {
namespace {

// Names that others may hold: processes with our pid in other containers.
constexpr int kNamesToTry = 1000;

// What is to be removed at exit. Never destroyed: files may be placed and
// removed by other objects' static destructors.
struct Leftovers {
  std::mutex mutex;
  std::set<std::string> paths;
  // Whose they are. A forked child starts with none of its own; it looks here
  // before it takes the lock, which another thread may have held at the fork.
  std::atomic<pid_t> pid = 0;

  static Leftovers& instance() {
    static auto* leftovers = new Leftovers;
    return *leftovers;
  }

  void add(const std::string& path) {
    static const int registered = std::atexit([] { instance().remove_all(); });
    (void)registered;  // Without it, the next process's sweep removes them.
    const std::lock_guard lock(mutex);
    if (pid.exchange(::getpid()) != ::getpid()) paths.clear();
    paths.insert(path);
  }

  void forget(const std::string& path) {
    const std::lock_guard lock(mutex);
    paths.erase(path);
  }

  void remove_all() {
    if (pid.load() != ::getpid()) return;
    const std::lock_guard lock(mutex);
    for (const std::string& path : paths) os().unlink(path.c_str());
    paths.clear();
  }
};

std::vector<std::string> candidates(const ModelOptions& options) {
  if (!options.temp_directory.empty()) return {options.temp_directory};
  std::vector<std::string> directories;
  for (const char* name : {"BERTH_TMPDIR", "TMPDIR"}) {
    const std::string_view value = setting(name);
    if (!value.empty()) directories.emplace_back(value);
  }
  directories.emplace_back("/tmp");
  return directories;
}

void sweep_once(const PrivateDirectory& directory, const std::string& prefix) {
  static std::mutex mutex;
  static auto* swept = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!swept->insert(directory.path() + '/' + prefix).second) return;
  }
  sweep(directory.fd(), prefix);
}

}  // namespace

PlacedFile::PlacedFile(base::Descriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), owner_pid_(::getpid()) {
  // Also one that is to be kept, until it is whole.
  Leftovers::instance().add(path_);
}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept = default;

PlacedFile& PlacedFile::operator=(PlacedFile&& other) noexcept {
  if (this != &other) {
    (void)remove();
    file_ = std::move(other.file_);
    path_ = std::move(other.path_);
    written_ = std::move(other.written_);
    keep_ = other.keep_;
    owner_pid_ = other.owner_pid_;
  }
  return *this;
}

PlacedFile::~PlacedFile() { (void)remove(); }

Status PlacedFile::remove() {
  if (!file_) return ok();
  if (keep_) {
    file_.reset();
    return ok();
  }
  if (owner_pid_ == ::getpid()) {
    // Before the lock goes, so that no sweep comes in between.
    if (os().unlink(path_.c_str()) != 0 && errno != ENOENT)
      return fail(Code::kSystem, "cannot remove '", path_,
                  "': ", base::errno_text(errno));
    Leftovers::instance().forget(path_);
  }
  file_.reset();
  return ok();
}

// Gives up the name without removing it.
void PlacedFile::forget() noexcept {
  Leftovers::instance().forget(path_);
  file_.reset();
}

// Locks the new file. False when a sweep was faster: between creation and lock
// the file looks abandoned.
Result<bool> PlacedFile::claim() {
  if (os().flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    return fail(Code::kSystem, "cannot lock '", path_,
                "': ", base::errno_text(errno));
  }
  struct stat about {};
  if (os().fstat(file_.get(), &about) != 0)
    return fail(Code::kSystem, "cannot stat '", path_,
                "': ", base::errno_text(errno));
  return about.st_nlink != 0;
}

Result<PlacedFile> PlacedFile::create(const PrivateDirectory& directory,
                                      const ModelOptions& options) {
  // Only ever counts up, also across fork(), so no path comes twice: the loader
  // would answer a second one with the library of the first.
  static std::atomic<std::uint64_t> counter = 0;
  const std::string start =
      options.file_prefix + '_' + std::to_string(::getpid()) + '_';
  // What is kept bears a name that sweep() does not know.
  const char* const end = options.keep_files ? ".kept.so" : ".so";
  for (int i = 0; i < kNamesToTry; ++i) {
    const std::string name = start + std::to_string(counter++) + end;
    base::Descriptor descriptor(
        os().openat(directory.fd(), name.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!descriptor && errno == EEXIST) continue;
    std::string path = directory.path() + '/' + name;
    if (!descriptor)
      return fail(Code::kSystem, "cannot create '", path,
                  "': ", base::errno_text(errno));
    PlacedFile file(std::move(descriptor), std::move(path));
    BERTH_TRY(const bool claimed, file.claim());
    if (claimed) return file;
    file.forget();
  }
  return fail(Code::kSystem, "'", directory.path(), "' already has ",
              kNamesToTry, " files in a row that are named ", start, "<number>",
              end);
}

Result<PlacedFile> PlacedFile::place_in(const std::string& parent,
                                        std::span<const base::Bytes> image,
                                        const ModelOptions& options) {
  BERTH_TRY(const PrivateDirectory directory, PrivateDirectory::open(parent));
  sweep_once(directory, options.file_prefix);
  BERTH_TRY(PlacedFile file, create(directory, options));
  // Written, never extended: on a full disk that fails here and now, where a
  // page of a file that only got its size would be a SIGBUS when it is touched.
  BERTH_CHECK(os().write_all(file.file_.get(), image, file.path_));
  BERTH_TRY(file.written_, WrittenImage::open(file.path_, file.file_.get()));
  if (options.keep_files) {
    file.keep_ = true;
    Leftovers::instance().forget(file.path_);
  }
  return file;
}

Result<PlacedFile> PlacedFile::place(std::span<const base::Bytes> image,
                                     const ModelOptions& options) {
  std::string reasons;
  for (const std::string& parent : candidates(options)) {
    auto file = place_in(parent, image, options);
    if (file) return file;
    if (!reasons.empty()) reasons += "; ";
    reasons += file.error().message();
  }
  return fail(Code::kSystem, reasons);
}

}  // namespace berth::library
