// Why a call of the shim failed, kept for the thread that made it.
//
// A delegate sees only 0 or 1 from the shim and reports the call's text; the
// sentence with the numbers waits here until whoever entered the delegate
// fetches it. A failure on a worker thread of the delegate is not seen by the
// thread that entered it.
#pragma once

#include <string>
#include <string_view>

namespace berth::shim {

// Replaces the thread's reason with "<entry>: <text>". Allocates nothing, and
// so truncates beyond 1 KiB.
void keep_reason(std::string_view entry, std::string_view text) noexcept;

void clear_reason() noexcept;

// The thread's reason, which is forgotten; empty when there is none.
std::string take_reason();

}  // namespace berth::shim
