// Any bytes as a package: listed, and every file of it read.
#include <cstddef>
#include <cstdint>
#include <span>

#include "berth/package.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto package =
      berth::Package::open(std::as_bytes(std::span(data, size)));
  if (!package) return 0;
  for (const berth::PackagedFile& file : package->files())
    (void)package->read(file.name);
  return 0;
}
