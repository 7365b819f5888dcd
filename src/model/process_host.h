// What this process offers to delegates: Berth's shim, and whatever the loader
// finds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elf/host.h"
#include "operators/external_calls.h"

namespace berth::model {

// Owns     handles of libraries that it was asked about and had to open, so
//          that resolves() can search them; closes them.
// Threads  one: make one for each image that is judged.
class ProcessHost final : public elf::Host {
 public:
  // `calls` are those that come with the library, or null when nothing is known
  // of them; borrowed.
  explicit ProcessHost(const operators::ExternalCalls* calls = nullptr)
      : calls_(calls) {}
  ProcessHost(const ProcessHost&) = delete;
  ProcessHost& operator=(const ProcessHost&) = delete;
  ~ProcessHost() override;

  bool serves(std::string_view import) const override;
  bool resolves(std::string_view symbol,
                std::string_view version) const override;
  bool has_library(std::string_view needed) const override;
  bool has_version(std::string_view needed,
                   std::string_view version) const override;
  bool runs(std::string_view instruction_set) const override;
  std::vector<std::string> missing_operators() const override;

 private:
  const operators::ExternalCalls* calls_;
  mutable std::vector<std::string> unopened_;  // There; opened if need be.
  mutable std::vector<void*> opened_;
};

}  // namespace berth::model
