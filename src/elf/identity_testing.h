// The whole edit of bytes in memory, as library/ makes it while it writes them.
#pragma once

#include <utility>
#include <vector>

#include "elf/edited_bytes.h"
#include "elf/identity.h"
#include "elf/image.h"

namespace berth::elf::testing {

// Plans, edits and verifies. After an error the bytes are what they were.
inline Result<Identity> apply(std::vector<std::byte>& bytes) {
  BERTH_TRY(const Image before, Image::parse(bytes));
  BERTH_TRY(Identity identity, Identity::plan(before));
  const EditedBytes edited(bytes, identity.edits);
  std::vector<std::byte> written;
  for (const base::Bytes part : edited.parts())
    written.insert(written.end(), part.begin(), part.end());
  BERTH_TRY(const Image after,
            noted(Image::parse(written), "checking the edited library"));
  BERTH_CHECK(Identity::verify(before, after));
  bytes = std::move(written);
  return identity;
}

}  // namespace berth::elf::testing
