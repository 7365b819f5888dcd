// Removes the files that processes which died could not remove themselves.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::library {

// Removes the regular files <prefix>_<pid>_<counter>.so of this user from the
// open `directory` whose owner is gone, and returns how many. Who lives is
// decided by the lock that a placed file holds, not by its pid: pids are reused
// and differ among containers that share a directory. What cannot be removed
// stays; the next sweep tries again.
// Threads  call from any thread, and from several processes at once.
std::size_t sweep(int directory, std::string_view prefix);

}  // namespace berth::library
