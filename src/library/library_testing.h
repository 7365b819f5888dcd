// What this room's tests share: failing system calls, temporary directories,
// child processes, and what can be seen of a process from outside.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "library/os.h"

namespace berth::library::testing {

// Puts the real calls back when it goes.
class ScopedOs {
 public:
  ScopedOs() : real_(os()) {}
  ~ScopedOs() { os() = real_; }
  ScopedOs(const ScopedOs&) = delete;
  ScopedOs& operator=(const ScopedOs&) = delete;

 private:
  const Os real_;
};

// While one lives, the n-th call through the table fails, counted over all of
// its entries from 1, and with kAndLater every one after it that makes
// something: what is short then is not needed to undo it.
class FailingCall {
 public:
  enum Extent { kOnly, kAndLater };

  explicit FailingCall(int n, Extent extent = kOnly) {
    real() = os();
    left() = n;
    all_later() = extent == kAndLater;
    replace<&Os::mkdir>();
    replace<&Os::openat>();
    replace<&Os::fstat>();
    replace<&Os::fstatvfs>();
    replace<&Os::fchmod>();
    replace<&Os::flock>();
    replace<&Os::lstat>();
    replace<&Os::memfd_create>();
    replace<&Os::add_seals>();
    replace<&Os::mmap>();
    replace<&Os::write_all>();
    replace<&Os::unlink>();
    replace<&Os::unlinkat>();
    replace<&Os::dlopen>();
    replace<&Os::dlclose>();
    replace<&Os::dlinfo>();
  }

  // False when fewer than n calls were made.
  static bool happened() { return left() <= 0; }

 private:
  static Os& real() {
    static Os table;
    return table;
  }
  static int& left() {
    static int calls = 0;
    return calls;
  }

  static bool& all_later() {
    static bool later = false;
    return later;
  }

  template <auto Entry, typename R>
  static R refuse() {
    errno = EIO;
    if constexpr (std::is_same_v<decltype(Entry), decltype(&Os::mmap)>)
      return MAP_FAILED;
    else if constexpr (std::is_same_v<R, Status>)
      return fail(Code::kSystem, "the test refused to write");
    else if constexpr (std::is_pointer_v<R>)
      return nullptr;
    else
      return -1;
  }

  template <auto Entry, typename R, typename... Args>
  static void replace_with(R (*Os::*)(Args...)) {
    os().*Entry = [](Args... args) -> R {
      constexpr bool kUndoes =
          std::is_same_v<decltype(Entry), decltype(&Os::unlink)> ||
          std::is_same_v<decltype(Entry), decltype(&Os::unlinkat)> ||
          std::is_same_v<decltype(Entry), decltype(&Os::dlclose)>;
      if (--left() == 0 || (left() < 0 && all_later() && !kUndoes))
        return refuse<Entry, R>();
      return (real().*Entry)(args...);
    };
  }

  template <auto Entry>
  static void replace() {
    replace_with<Entry>(Entry);
  }

  ScopedOs scope_;
};

class TempDirectory {
 public:
  TempDirectory() {
    std::string name =
        std::filesystem::temp_directory_path() / "berth_test_XXXXXX";
    path_ = ::mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

  // Where placements with this temp_directory put their files.
  std::string inner() const {
    return path_ + "/berth-" + std::to_string(::geteuid());
  }

 private:
  std::string path_;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Files, links and so on below `directory`, at any depth, without directories.
inline std::vector<std::string> files_below(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory, error)) {
    if (entry.is_symlink() || !entry.is_directory())
      files.push_back(entry.path());
  }
  return files;
}

inline std::size_t descriptor_count() {
  using Walk = std::filesystem::directory_iterator;
  std::size_t count = 0;
  for (Walk at("/proc/self/fd"); at != Walk(); ++at) ++count;
  return count;
}

#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// Mappings of this process whose file name has `text` in it. ThreadSanitizer
// reads the symbols of each library in which it sees a race, suppressed ones
// too, through a mapping of its own that it keeps; so under it only those with
// code, of which a library that is mapped always has one.
inline std::size_t mapping_count(const std::string& text) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(text) == std::string::npos) continue;
    const std::string permissions = line.substr(line.find(' ') + 1, 4);
    if (!kThreadSanitizer || permissions[2] == 'x') ++count;
  }
  return count;
}

// Forks; what `body` returns is the child's exit status, taken by _exit().
template <typename Body>
pid_t start_child(Body&& body) {
  std::fflush(nullptr);  // Or the child's exit() writes it once more.
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

// What waitpid() says of the child's end.
inline int end_of(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The exit status of such a child, or 128 + the signal that killed it. `body`
// may end the child itself, for example by exit().
template <typename Body>
int in_child(Body&& body) {
  const int status = end_of(start_child(body));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace berth::library::testing
