#include "elf/edited_bytes.h"

#include <algorithm>
#include <cstring>

namespace berth::elf {
namespace {

// Edits that are no further apart share a copy: a part more costs the kernel as
// much as copying this many bytes. Copies are of whole pages, so that no page
// of a file is written to twice.
constexpr std::uint64_t kNear = 16 << 10;
constexpr std::uint64_t kPage = 4096;

struct Interval {
  std::uint64_t begin;
  std::uint64_t end;
};

// The intervals that hold all edits, disjoint and in order.
std::vector<Interval> intervals_of(const std::vector<Edit>& edits,
                                   std::uint64_t size) {
  std::vector<Interval> all;
  all.reserve(edits.size());
  for (const Edit& edit : edits) {
    const std::uint64_t end = edit.offset + edit.size_bytes;
    all.push_back({edit.offset / kPage * kPage,
                   std::min((end + kPage - 1) / kPage * kPage, size)});
  }
  std::ranges::sort(all, {}, &Interval::begin);
  std::vector<Interval> merged;
  for (const Interval& next : all) {
    if (!merged.empty() && next.begin <= merged.back().end + kNear)
      merged.back().end = std::max(merged.back().end, next.end);
    else
      merged.push_back(next);
  }
  return merged;
}

}  // namespace

EditedBytes::EditedBytes(base::Bytes original, const std::vector<Edit>& edits)
    : size_(original.size()) {
  const std::vector<Interval> intervals = intervals_of(edits, size_);
  copies_.reserve(intervals.size());
  for (const auto& [begin, end] : intervals) {
    const base::Bytes part = original.subspan(begin, end - begin);
    copies_.emplace_back(part.begin(), part.end());
  }
  for (const Edit& edit : edits) {
    if (edit.size_bytes == 0) continue;
    const auto next =
        std::ranges::upper_bound(intervals, edit.offset, {}, &Interval::begin);
    const auto i = static_cast<std::size_t>(next - intervals.begin()) - 1;
    std::memcpy(&copies_[i][edit.offset - intervals[i].begin],
                edit.bytes.data(), edit.size_bytes);
  }
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto& [begin, end] = intervals[i];
    if (begin > at) parts_.push_back(original.subspan(at, begin - at));
    if (end > begin) parts_.emplace_back(copies_[i]);
    at = end;
  }
  if (at < size_) parts_.push_back(original.subspan(at));
}

}  // namespace berth::elf
