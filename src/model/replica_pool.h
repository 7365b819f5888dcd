// Hands out the replicas of a model, each to one call at a time.
//
// It knows them by number only; model.cpp has the replicas themselves.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "berth/options.h"
#include "berth/result.h"

namespace berth::model {

// Owns     who has which replica. Must outlive its leases.
// Threads  any. Who waits longest is not promised to be next.
// Fails    kBusy when all are out and the pool does not wait; kInvalidArgument
//          once it is closed.
class ReplicaPool {
 public:
  // One replica, until the lease is destroyed.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), index_(other.index_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(index_);
    }

    std::size_t index() const noexcept { return index_; }

   private:
    friend class ReplicaPool;
    Lease(ReplicaPool* pool, std::size_t index) noexcept
        : pool_(pool), index_(index) {}

    ReplicaPool* pool_;
    std::size_t index_;
  };

  // Replicas 0 to `count` - 1, all of them free.
  ReplicaPool(std::size_t count, WhenBusy when_busy);
  ReplicaPool(const ReplicaPool&) = delete;
  ReplicaPool& operator=(const ReplicaPool&) = delete;

  // The replica that came back last, whose memory is in the caches. Neither
  // allocates nor, as long as one is free, waits.
  Result<Lease> acquire();

  // From now on acquire() fails, also where it waits. Returns when the last
  // lease is gone.
  void close();

 private:
  void give_back(std::size_t index) noexcept;

  const std::size_t count_;
  const WhenBusy when_busy_;
  std::mutex mutex_;
  std::condition_variable changed_;   // One came back, or the pool closed.
  std::condition_variable complete_;  // All came back.
  std::vector<std::size_t> free_;     // The last is the next.
  std::size_t waiting_ = 0;
  std::size_t closing_ = 0;
  bool closed_ = false;
};

}  // namespace berth::model
