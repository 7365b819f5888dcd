#include "model/replica_pool.h"

namespace berth::model {

ReplicaPool::ReplicaPool(std::size_t count, WhenBusy when_busy)
    : count_(count), when_busy_(when_busy) {
  free_.reserve(count);
  while (count > 0) free_.push_back(--count);
}

Result<ReplicaPool::Lease> ReplicaPool::acquire() {
  std::unique_lock lock(mutex_);
  if (free_.empty() && !closed_) {
    if (when_busy_ == WhenBusy::kFail)
      return fail(Code::kBusy, "no replica is free, the model has ", count_);
    ++waiting_;
    changed_.wait(lock, [this] { return closed_ || !free_.empty(); });
    --waiting_;
  }
  if (closed_) return fail(Code::kInvalidArgument, "the model is closed");
  const std::size_t index = free_.back();
  free_.pop_back();
  return Lease(this, index);
}

void ReplicaPool::give_back(std::size_t index) noexcept {
  // Notified under the lock: whoever waits for the last lease may destroy the
  // pool as soon as it is unlocked.
  const std::lock_guard lock(mutex_);
  free_.push_back(index);
  if (waiting_ > 0) changed_.notify_one();
  if (closing_ > 0 && free_.size() == count_) complete_.notify_all();
}

void ReplicaPool::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  ++closing_;
  complete_.wait(lock, [this] { return free_.size() == count_; });
  --closing_;
}

}  // namespace berth::model
