// The std::cerr of delegates.
//
// A compiled model prints the text of each error that it reports, and warnings.
// The process's standard error is the user's, so it is kept instead: the last
// lines of a thread wait for whoever entered the delegate. Models of torch
// before 2.13 tell the reason of a failure nowhere else.
#pragma once

#include <string>

namespace berth::shim {

void clear_printed() noexcept;

// What delegates have printed on this thread since, without line ends around
// it; forgotten then. Its first KiB.
std::string take_printed();

}  // namespace berth::shim
