#include "berth/inspection.h"

#include "elf/image.h"
#include "elf/policy.h"
#include "model/container.h"
#include "model/process_host.h"
#include "shim/served.h"

namespace berth {

Result<Inspection> Inspection::of(std::span<const std::byte> library,
                                  std::string_view instruction_set,
                                  std::span<const std::byte> operators) {
  BERTH_TRY(const elf::Image image, elf::Image::parse(library));
  operators::ExternalCalls calls;
  if (!operators.empty()) {
    BERTH_TRY(calls, operators::ExternalCalls::parse(operators));
  }
  const model::ProcessHost host(operators.empty() ? nullptr : &calls);
  elf::Policy policy = elf::Policy::judge(
      image, host, model::Container::entry_points(), instruction_set);
  Inspection inspection;
  inspection.size_bytes = library.size();
  inspection.needed.assign(image.needed().begin(), image.needed().end());
  inspection.served.assign(policy.served.begin(), policy.served.end());
  inspection.not_served.assign(policy.not_served.begin(),
                               policy.not_served.end());
  inspection.not_served.insert(inspection.not_served.end(),
                               policy.missing_operators.begin(),
                               policy.missing_operators.end());
  inspection.other_imports.assign(policy.other_imports.begin(),
                                  policy.other_imports.end());
  inspection.missing.assign(policy.missing.begin(), policy.missing.end());
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
