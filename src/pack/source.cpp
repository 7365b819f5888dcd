#include "pack/source.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"

namespace berth::pack {

Source::Source(base::Bytes memory) : memory_(memory), size_(memory.size()) {}

Result<Source> Source::open(const std::string& path) {
  Source source;
  BERTH_TRY(base::OpenFile file, base::open_regular(path));
  source.file_ = std::move(file.descriptor);
  source.size_ = file.size;
  return source;
}

Status Source::read(std::uint64_t offset, std::span<std::byte> into) const {
  const auto cut_off = [&] {
    return fail(Code::kCorrupt, "expected ", into.size(), " bytes at ", offset,
                ", found an archive of ", size_);
  };
  if (!base::fits(offset, into.size(), size_)) return cut_off();
  if (!file_) {
    if (!into.empty())
      std::memcpy(into.data(), memory_.data() + offset, into.size());
    return ok();
  }
  while (!into.empty()) {
    const ssize_t n = ::pread(file_.get(), into.data(), into.size(),
                              static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(Code::kSystem, "reading ", into.size(), " bytes at ", offset,
                  " failed: ", base::errno_text(errno));
    if (n == 0) return cut_off();  // It shrank meanwhile.
    into = into.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return ok();
}

}  // namespace berth::pack
