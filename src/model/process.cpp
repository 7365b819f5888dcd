#include "berth/process.h"

#include "library/library.h"

namespace berth {

ProcessState ProcessState::now() {
  return {library::loaded_paths(), library::pinned_count()};
}

}  // namespace berth
