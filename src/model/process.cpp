#include "berth/process.h"

#include "library/library.h"

namespace berth {

ProcessState ProcessState::now() {
  return {library::loaded(), library::pinned()};
}

}  // namespace berth
