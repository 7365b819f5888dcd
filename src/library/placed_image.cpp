#include "library/placed_image.h"

#include <algorithm>
#include <string_view>

#include "library/setting.h"

namespace berth::library {
namespace {

constexpr std::size_t kPrefixMost = 64;

Status check_prefix(const std::string& prefix) {
  const bool plain = std::all_of(prefix.begin(), prefix.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!plain || prefix.empty() || prefix.size() > kPrefixMost)
    return fail(Code::kInvalidArgument, "file prefix '", prefix,
                "': expected 1 to ", kPrefixMost,
                " letters, digits, '-' and '_'");
  return ok();
}

Result<Placement> chosen(Placement option) {
  if (option != Placement::kDefault) return option;
  const std::string_view value = setting("BERTH_PLACEMENT");
  if (value.empty()) return Placement::kAutomatic;
  return noted(parse_placement(value), "reading BERTH_PLACEMENT");
}

std::uint64_t size_of(std::span<const base::Bytes> image) {
  std::uint64_t size = 0;
  for (const base::Bytes part : image) size += part.size();
  return size;
}

}  // namespace

Result<PlacedImage> PlacedImage::place(std::span<const base::Bytes> image,
                                       const ModelOptions& given) {
  ModelOptions options = given;
  BERTH_CHECK(check_prefix(options.file_prefix));
  BERTH_TRY(options.placement, chosen(options.placement));
  if (setting("BERTH_KEEP_FILES") == "1") options.keep_files = true;
  // What is to be kept for a debugger has to be a file.
  if (options.keep_files && options.placement == Placement::kAutomatic)
    options.placement = Placement::kFile;
  if (options.keep_files && options.placement == Placement::kMemory)
    return fail(Code::kInvalidArgument,
                "a library in memory has no file to keep: give up keep_files "
                "(BERTH_KEEP_FILES) or the placement in memory");

  std::string reasons;
  if (options.placement != Placement::kMemory) {
    auto file = PlacedFile::place(image, options);
    if (file) return PlacedImage(*std::move(file));
    if (file.error().code() != Code::kSystem)
      return tl::unexpected<Error>(std::move(file).error());
    reasons =
        "no directory holds its file: " + std::string(file.error().message());
  }
  if (options.placement != Placement::kFile) {
    auto memory = PlacedMemory::place(image, options.file_prefix);
    if (memory) return PlacedImage(*std::move(memory), std::move(reasons));
    if (!reasons.empty()) reasons += "; ";
    reasons +=
        "memory does not hold it: " + std::string(memory.error().message());
  }
  return fail(Code::kSystem, "the library of ", size_of(image),
              " bytes cannot be placed: ", reasons);
}

const std::string& PlacedImage::path() const noexcept {
  return std::visit(
      [](const auto& placed) -> const std::string& { return placed.path(); },
      placed_);
}

WrittenImage PlacedImage::take_written() noexcept {
  return std::visit([](auto& placed) { return placed.take_written(); },
                    placed_);
}

Status PlacedImage::remove() {
  return std::visit([](auto& placed) { return placed.remove(); }, placed_);
}

}  // namespace berth::library

namespace berth {

Result<Placement> parse_placement(std::string_view text) {
  if (text == "automatic") return Placement::kAutomatic;
  if (text == "file") return Placement::kFile;
  if (text == "memory") return Placement::kMemory;
  return fail(Code::kInvalidArgument, "placement '", text,
              "': expected 'automatic', 'file' or 'memory'");
}

}  // namespace berth
