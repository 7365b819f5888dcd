// A model's constants, in memory once for any number of replicas.
//
// They lie in a memory file, of which each replica has a private mapping: what
// it only reads is the file's, what it writes to becomes its own, page by page.
// So weights are shared and state is not, without knowing which is which: what
// libraries say of it is not reliable (torch 2.13 does not know the kind of a
// constant whose name begins with a digit).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "berth/result.h"
#include "berth/tensor.h"
#include "model/lent_constants.h"

namespace berth::model {

// A constant under the name that its library has for it.
struct NamedConstant {
  std::string name;
  Tensor tensor;
};

// Owns     the memory file. It may go as soon as all has been lent that is to
//          be: mappings stay.
// Threads  immutable; lend() from any.
// Units    bytes.
// Fails    kSystem when the file cannot be made or mapped, kOutOfMemory.
class SharedConstants {
 public:
  // Copies `constants`, with the whole of their storages.
  static Result<SharedConstants> copy_of(
      const std::vector<NamedConstant>& constants);

  // Tensors like those that were copied, on a new private mapping.
  Result<LentConstants> lend() const;

 private:
  struct Place {
    NamedConstant constant;  // For its description; its memory may be gone.
    std::size_t offset = 0;
  };

  SharedConstants() = default;

  base::Descriptor file_;
  std::vector<Place> places_;
  std::size_t size_bytes_ = 0;
};

}  // namespace berth::model
