#include "support/models.h"

#include <link.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "berth/process.h"
#include "cli/compare.h"
#include "cli/files.h"
#include "cli/npy.h"
#include "library/library_testing.h"
#include "shim/handle.h"

namespace berth::testing {

namespace fs = std::filesystem;

fs::path model_path(const std::string& model, const std::string& file) {
  return fs::path(BERTH_MODELS) / model / file;
}

std::vector<std::byte> read(const fs::path& path) {
  auto bytes = cli::read_file(path.string());
  EXPECT_TRUE(bytes.has_value()) << bytes.error();
  return bytes ? std::move(*bytes) : std::vector<std::byte>();
}

std::vector<Tensor> tensors(const std::string& model, const std::string& name,
                            const std::string& after) {
  std::vector<Tensor> found;
  for (int i = 0;; ++i) {
    const fs::path path =
        model_path(model, name + std::to_string(i) + after + ".npy");
    if (!fs::exists(path)) break;
    auto tensor = cli::read_npy(path.string());
    EXPECT_TRUE(tensor.has_value()) << tensor.error();
    found.push_back(std::move(*tensor));
  }
  EXPECT_FALSE(found.empty()) << model << " has no " << name;
  return found;
}

::testing::AssertionResult near(const Tensor& found, const Tensor& expected,
                                double tolerance) {
  const auto difference = cli::compare(found, expected, {0, tolerance});
  if (!difference) return ::testing::AssertionFailure() << difference.error();
  if (difference->count == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << difference->count << " elements differ, by up to "
         << difference->largest << ", first at " << difference->first_index;
}

::testing::AssertionResult all_near(const std::vector<Tensor>& found,
                                    const std::vector<Tensor>& expected,
                                    double tolerance) {
  if (found.size() != expected.size())
    return ::testing::AssertionFailure()
           << found.size() << " outputs, expected " << expected.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (auto result = near(found[i], expected[i], tolerance); !result)
      return result << " in output " << i;
  }
  return ::testing::AssertionSuccess();
}

Footprint Footprint::now(const fs::path& temp) {
  Footprint footprint;
  footprint.descriptors = library::testing::descriptor_count();
  footprint.mappings = library::testing::mapping_count(temp.string());
  for (const auto& entry : fs::recursive_directory_iterator(temp)) {
    if (entry.is_regular_file()) ++footprint.files;
  }
  footprint.handles = shim::live_handle_count();
  footprint.pinned = ProcessState::now().pinned.size();
  return footprint;
}

std::ostream& operator<<(std::ostream& out, const Footprint& footprint) {
  return out << footprint.descriptors << " descriptors, " << footprint.mappings
             << " mappings, " << footprint.files << " files, "
             << footprint.handles << " handles, " << footprint.pinned
             << " pinned";
}

std::vector<std::string> loaded_paths() {
  std::vector<std::string> paths;
  for (const LoadedLibrary& library : ProcessState::now().libraries)
    paths.push_back(library.path);
  return paths;
}

std::size_t objects_below(const std::filesystem::path& directory) {
  struct Count {
    std::string prefix;
    std::size_t objects = 0;
  } count{directory.string() + "/"};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* argument) {
        auto& found = *static_cast<Count*>(argument);
        if (std::string_view(object->dlpi_name).starts_with(found.prefix))
          ++found.objects;
        return 0;
      },
      &count);
  return count.objects;
}

TempDirectory::TempDirectory() {
  std::string name = ::testing::TempDir() + "berth_test_XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
  ::setenv("TMPDIR", name.c_str(), 1);
}

TempDirectory::~TempDirectory() {
  ::unsetenv("TMPDIR");
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace berth::testing
