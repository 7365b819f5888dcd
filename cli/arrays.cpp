#include "cli/arrays.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/npy.h"

namespace berth::cli {

Result<std::vector<Tensor>> read_arrays(std::span<const std::string> paths,
                                        ExpectedTypes expected) {
  std::vector<Tensor> tensors;
  for (const std::string& path : paths) {
    const auto rest =
        expected.subspan(std::min(tensors.size(), expected.size()));
    if (is_zip(path)) {
      BERTH_TRY(auto several, read_npz(path, rest));
      std::ranges::move(several, std::back_inserter(tensors));
    } else {
      BERTH_TRY(Tensor tensor,
                read_npy(path, rest.empty() ? std::nullopt : rest.front()));
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

Status write_arrays(const std::string& path, std::span<const Tensor> tensors) {
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(Code::kSystem, "cannot make directory '", path,
                "': ", error.message());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto file =
        std::filesystem::path(path) / ("out" + std::to_string(i) + ".npy");
    BERTH_CHECK(write_npy(file.string(), tensors[i]));
  }
  return ok();
}

}  // namespace berth::cli
