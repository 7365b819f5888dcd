// Makes the names that Berth serves visible to the libraries that it maps.
//
// Libraries are mapped RTLD_LOCAL and find the shim in the process's global
// scope. Berth is not there when it came in with RTLD_LOCAL, as every Python
// extension does. Promotion re-opens the shared object that holds Berth with
// RTLD_GLOBAL. What that does to the process: the names which that object
// exports become visible to everything that is mapped later, and it stays
// mapped for good. Its dependencies are promoted with it.
//
// In an executable that Berth was linked into there is nothing to promote; it
// must export the served names instead (-Wl,--export-dynamic-symbol=...).
#pragma once

#include "berth/result.h"

namespace berth::library {

// Does its work once per process; later calls cost one load.
// Threads  call from any thread.
// Fails    kSystem when the loader refuses.
Status promote_self();

}  // namespace berth::library
