// A .pt2 archive as torch._inductor.aoti_compile_and_package writes it: one or
// more compiled models, and what they say about themselves.
//
// Opening reads the archive's directory and the models' metadata, nothing else.
// Model::load (berth/model.h) takes one model out of it and leaves the others
// alone; nothing is unpacked to disk.
//
// Format: docs/formats.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/export.h"
#include "berth/result.h"

namespace berth {

// A file of the archive. A value.
// Units    size in bytes, unpacked.
struct PackagedFile {
  std::string name;  // Without the archive's root folder.
  std::uint64_t size_bytes = 0;
};

// Where the package keeps a model's constants.
enum class PackagedConstants : std::uint8_t {
  kInLibrary,  // Or nowhere: the library says whether it misses any.
  kBlob,       // In one file, in the library's order.
  kEntries,    // In a file each, found by name.
};

// "in the library", "in one blob", "in separate entries".
BERTH_API const char* to_string(PackagedConstants constants) noexcept;

// Something that a model was compiled for, and this machine is not. A value.
struct TargetMismatch {
  std::string what;  // "platform", "machine" or "device".
  std::string compiled_for;
  std::string here;
};

// One model of a package. A value.
// Units    sizes in bytes.
struct BERTH_API PackagedModel {
  std::string name;  // "model" unless the package was made with names.
  PackagedFile library;
  PackagedConstants constants = PackagedConstants::kInLibrary;
  std::vector<PackagedFile> constant_files;
  // The list of the operators that the library calls by name, if it has any.
  std::optional<PackagedFile> operators;
  std::vector<PackagedFile> files;  // All of the model's, these among them.

  // Everything that torch wrote down, for example AOTI_DEVICE_KEY "cpu".
  std::map<std::string, std::string> metadata;
  // Taken from it; empty where it says nothing.
  std::string device;           // "cpu", "cuda".
  std::string machine;          // "x86_64".
  std::string platform;         // "linux".
  std::string instruction_set;  // "AVX2".

  // Everything of the above that keeps it from running here, but for the
  // instruction set, which the library is judged with (berth/inspection.h).
  std::vector<TargetMismatch> mismatches() const;
};

// Owns     the open file, or nothing: bytes are borrowed, and must stay as they
//          are until the Package is gone. Models that were loaded need neither.
// Threads  immutable; share freely.
// Fails    kNotFound for a path, a model or a file that is not there, kCorrupt
//          for an archive that contradicts itself, kIncompatible when it is
//          sound but no package of torch's, kSystem when it cannot be read.
class BERTH_API Package {
 public:
  static Result<Package> open(const std::string& path);
  static Result<Package> open(std::span<const std::byte> bytes);

  Package(Package&&) noexcept;
  Package& operator=(Package&&) noexcept;
  ~Package();

  // Sorted by name; never empty.
  const std::vector<PackagedModel>& models() const noexcept;

  // The model of that name. An empty name means "model", or the only one.
  Result<const PackagedModel*> find(std::string_view name) const;

  // Every file of the archive, in its order.
  const std::vector<PackagedFile>& files() const noexcept;

  // The bytes of the file of that name, whose checksum was verified.
  Result<std::vector<std::byte>> read(std::string_view name) const;

  // The path, or "a package in memory".
  const std::string& label() const noexcept;

  class Impl;  // Berth's own.

 private:
  friend class Model;
  explicit Package(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
