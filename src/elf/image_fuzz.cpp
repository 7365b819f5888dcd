// Any bytes are an image or an error. What is an image can be asked anything.
#include "elf/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto image = berth::elf::Image::parse(
      {reinterpret_cast<const std::byte*>(data), size});
  if (!image) return 0;
  // Every string is followed to its end.
  std::size_t length = 0;
  image->visit_strings([&](const auto& use) { length += use.text.size(); });
  for (const auto& import : image->imports()) length += import.version.size();
  const auto* run = image->find_export("AOTInductorModelContainerRun");
  return run != nullptr && length == 0 ? -1 : 0;
}
