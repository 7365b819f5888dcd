// What the tests of this room share: bytes of libraries, ways to spoil them,
// and other readers of them to compare with.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "elf/image.h"

namespace berth::elf::testing {

using Bytes = std::vector<std::byte>;

inline std::string fake_path(const std::string& name) {
  return std::string(BERTH_FAKES_DIR) + "/" + name + ".so";
}

inline Bytes read_bytes(const std::string& path) {
  auto bytes = base::read_file(path);
  EXPECT_TRUE(bytes.has_value()) << path;
  return bytes ? *std::move(bytes) : Bytes();
}

inline Bytes fake(const std::string& name) {
  return read_bytes(fake_path(name));
}

// The library that tools/make_elf_seeds.py puts together: no section headers,
// both hash tables, a version, every kind of edit to make.
inline Bytes seed() { return read_bytes(BERTH_SEEDS_DIR "/elf/sound.bin"); }

template <typename T>
T get(const Bytes& bytes, std::uint64_t offset) {
  return *base::load<T>(bytes, offset);
}

template <typename T>
void put(Bytes& bytes, std::uint64_t offset, T value) {
  ASSERT_TRUE(base::store<T>(bytes, offset, value));
}

// File offset of the n-th program header of this type.
inline std::uint64_t header_at(const Bytes& bytes, std::uint32_t type,
                               int n = 0) {
  const auto header = get<Elf64_Ehdr>(bytes, 0);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const std::uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (get<Elf64_Phdr>(bytes, at).p_type == type && n-- == 0) return at;
  }
  ADD_FAILURE() << "no program header of type " << type;
  return 0;
}

// File offset of the entry of the dynamic table that has this tag.
inline std::uint64_t entry_at(const Bytes& bytes, std::int64_t tag) {
  const auto table = get<Elf64_Phdr>(bytes, header_at(bytes, PT_DYNAMIC));
  for (std::uint64_t at = table.p_offset; at < bytes.size();
       at += sizeof(Elf64_Dyn))
    if (get<Elf64_Dyn>(bytes, at).d_tag == tag) return at;
  ADD_FAILURE() << "no dynamic entry with tag " << tag;
  return 0;
}

inline std::uint64_t value_of(const Bytes& bytes, std::int64_t tag) {
  return get<Elf64_Dyn>(bytes, entry_at(bytes, tag)).d_un.d_val;
}

inline void set_value(Bytes& bytes, std::int64_t tag, std::uint64_t value) {
  put<std::uint64_t>(bytes, entry_at(bytes, tag) + 8, value);
}

// Where the file has what is mapped at `address`.
inline std::uint64_t file_offset(const Bytes& bytes, std::uint64_t address) {
  const auto header = get<Elf64_Ehdr>(bytes, 0);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto load =
        get<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (load.p_type == PT_LOAD && address >= load.p_vaddr &&
        address < load.p_vaddr + load.p_filesz)
      return load.p_offset + (address - load.p_vaddr);
  }
  ADD_FAILURE() << "nothing is mapped at address " << address;
  return 0;
}

// Where the code segment of the seed has the table of this tag: its addresses
// are file offsets.
inline std::uint64_t seed_table(const Bytes& bytes, std::int64_t tag) {
  return value_of(bytes, tag);
}

// One way to spoil the seed, and what must be said about it.
struct Spoiled {
  const char* name;
  void (*spoil)(Bytes&);
  Code code;
  const char* says;  // The message must contain this.
};

inline void set_header(Bytes& b, std::uint32_t type, std::size_t field,
                       std::uint64_t value, int n = 0) {
  put<std::uint64_t>(b, header_at(b, type, n) + field, value);
}

inline void expect_refusal(const Spoiled& spoiled) {
  Bytes bytes = seed();
  ASSERT_TRUE(Image::parse(bytes).has_value());
  spoiled.spoil(bytes);
  const auto image = Image::parse(bytes);
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().code(), spoiled.code) << image.error();
  EXPECT_THAT(image.error().to_string(), ::testing::HasSubstr(spoiled.says));
}

// A file that is removed when the test ends.
class TemporaryLibrary {
 public:
  explicit TemporaryLibrary(const Bytes& bytes) {
    static int count = 0;
    path_ = ::testing::TempDir() + "elf_test_" + std::to_string(::getpid()) +
            "_" + std::to_string(count++) + ".so";
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryLibrary() { ::unlink(path_.c_str()); }
  TemporaryLibrary(const TemporaryLibrary&) = delete;
  TemporaryLibrary& operator=(const TemporaryLibrary&) = delete;

  const std::string& path() const { return path_; }
  void* open() const { return ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL); }

 private:
  std::string path_;
};

// Runs `body` in a child process; its exit status, or minus its signal.
template <typename Body>
int in_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The words of each line that `readelf` prints; empty when there is no readelf.
inline std::vector<std::vector<std::string>> readelf(const std::string& options,
                                                     const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  FILE* pipe = ::popen(
      ("readelf -W " + options + " '" + path + "' 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return lines;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    std::istringstream line(buffer.data());
    lines.emplace_back(std::istream_iterator<std::string>(line),
                       std::istream_iterator<std::string>());
  }
  ::pclose(pipe);
  return lines;
}

}  // namespace berth::elf::testing
