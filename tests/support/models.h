// The compiled models of tests/models, as tests use them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "berth/tensor.h"

namespace berth::testing {

std::filesystem::path model_path(const std::string& model,
                                 const std::string& file);

std::vector<std::byte> read(const std::filesystem::path& path);

// The .npy files <name>0<after>.npy, <name>1<after>.npy, ... of a model.
std::vector<Tensor> tensors(const std::string& model, const std::string& name,
                            const std::string& after = "");

// Every element within `tolerance`; says where it is not.
::testing::AssertionResult near(const Tensor& found, const Tensor& expected,
                                double tolerance = 1e-5);
::testing::AssertionResult all_near(const std::vector<Tensor>& found,
                                    const std::vector<Tensor>& expected,
                                    double tolerance = 1e-5);

// What a leak would leave: descriptors, mappings of Berth's own files, files in
// the temp directory, shim handles.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t mappings = 0;
  std::size_t files = 0;
  std::size_t handles = 0;
  std::size_t pinned = 0;

  static Footprint now(const std::filesystem::path& temp);
  bool operator==(const Footprint&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Footprint& footprint);

// The paths of the libraries that Berth has mapped now.
std::vector<std::string> loaded_paths();

// How many objects of the loader come from files below `directory`. Unlike the
// mappings, these are nobody's but the loader's.
std::size_t objects_below(const std::filesystem::path& directory);

// A temp directory of a test's own, in TMPDIR for its life.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace berth::testing
