// Which imports of a delegate Berth serves under a name of its own, and which
// libraries it stands in for. shim/ exports the new names; nothing else decides
// about them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::elf {

// Berth's name for `import`, of the same length, or nothing when the import
// keeps its name. No new name is itself renamed.
//
//   aoti_torch_*         aoti_berth_*         a process may also hold libtorch
//   Sleef_*              Berth_*              which exports its own copies
//   __cxa_thread_atexit  berth_thread_atexit  so that the library can be closed
//   getenv               berenv               so that input checks are on
//   _ZSt4cerr            berth_err            std::cerr, so that nothing prints
std::optional<std::string> renamed(std::string_view import);

// Whether the import keeps its name, and whether `name` is Berth's for it; both
// without making it.
bool keeps_name(std::string_view import) noexcept;
bool is_renamed_to(std::string_view import, std::string_view name) noexcept;

// True for the libraries that `needed` may name because torch's compiler links
// to them: libtorch.so, libtorch_cpu.so, libc10.so, libc10_cuda.so and so on.
bool is_torch_library(std::string_view needed) noexcept;

}  // namespace berth::elf
