#include "berth/inspection.h"

#include "elf/image.h"
#include "elf/policy.h"
#include "model/container.h"
#include "model/process_host.h"
#include "shim/served.h"

namespace berth {

Result<Inspection> Inspection::of(std::span<const std::byte> library) {
  BERTH_TRY(const elf::Image image, elf::Image::parse(library));
  const model::ProcessHost host;
  elf::Policy policy =
      elf::Policy::judge(image, host, model::Container::entry_points());
  Inspection inspection;
  inspection.size_bytes = library.size();
  inspection.needed.assign(image.needed().begin(), image.needed().end());
  inspection.served = std::move(policy.served);
  inspection.not_served = std::move(policy.not_served);
  inspection.other_imports = std::move(policy.other_imports);
  inspection.missing = std::move(policy.missing);
  inspection.refusals = std::move(policy.refusals);
  for (const elf::Symbol& symbol : image.symbols()) {
    if (symbol.defined && symbol.binding == STB_GNU_UNIQUE)
      inspection.unique_symbols.emplace_back(symbol.name);
  }
  inspection.executable_stack = image.executable_stack();
  inspection.tls_size_bytes = image.tls_size();
  return inspection;
}

}  // namespace berth
