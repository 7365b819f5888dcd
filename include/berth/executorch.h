// Berth as an ExecuTorch backend.
//
// Linking the target berth::executorch, or opening its shared library, is all
// that a program needs: it registers the backend, and programs whose delegates
// name it load and run through ExecuTorch's own API. This header is for those
// who want to know more than a code.
#pragma once

#include <optional>

#include "berth/error.h"
#include "berth/export.h"

namespace berth::executorch {

// The id that a program's delegates carry.
inline constexpr const char* kBackendName = "BerthBackend";

// Load-time options of the backend, as ExecuTorch hands them on: the directory
// in which the libraries' private files are made, and whether there are to be
// files, "automatic", "file" or "memory" (ModelOptions says the rest).
inline constexpr char kTempDirectory[] = "temp_directory";
inline constexpr char kPlacement[] = "placement";

// Load-time options for whoever executes one delegate from several threads at
// once, as ExecuTorch's own methods do not: how many calls may overlap, an
// integer, and what one beyond them does, a string (ModelOptions says the
// rest). A method is for one thread; several methods have delegates of their
// own and need neither.
inline constexpr char kReplicas[] = "replicas";
inline constexpr char kWhenBusy[] = "when_busy";
inline constexpr char kWhenBusyWait[] = "wait";
inline constexpr char kWhenBusyFail[] = "fail";

// Whether the registration with the ExecuTorch runtime succeeded when this
// library was loaded. It does not when another backend took the name before.
BERTH_API bool is_registered() noexcept;

// The error of this thread's last failed init or execute of a delegate, once:
// the reason behind a code that the runtime handed on.
BERTH_API std::optional<Error> take_last_error();

}  // namespace berth::executorch
