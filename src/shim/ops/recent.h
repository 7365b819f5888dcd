// What was made before and may be needed again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace berth::shim {

// A map that keeps the `most` values that were used last.
// Owns     its values, together with those who found them.
// Threads  any, at once.
template <typename Key, typename Value, typename Hash>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  // Null when there is none.
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    values_.splice(values_.begin(), values_, found->second);
    return found->second->second;
  }

  // Another thread may have been first: its value stays.
  void keep(const Key& key, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    if (places_.contains(key)) return;
    values_.emplace_front(key, std::move(value));
    places_.emplace(key, values_.begin());
    if (values_.size() <= most_) return;
    places_.erase(values_.back().first);
    values_.pop_back();
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  using Values = std::list<std::pair<Key, std::shared_ptr<const Value>>>;
  std::size_t most_;
  std::mutex mutex_;
  Values values_;  // Last used first.
  std::unordered_map<Key, typename Values::iterator, Hash> places_;
};

}  // namespace berth::shim
