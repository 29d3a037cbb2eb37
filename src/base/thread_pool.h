// One owned pool of threads for CPU work, made in main and passed; never global.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/turns.h"

namespace mynah {

// A reference to a callable, without ownership and without allocation.
template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): a lambda is passed where a FunctionRef
                      // is wanted
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}

  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// Runs ranges of independent items on a fixed number of threads, the caller's included.
// Which thread runs which items is not defined: work whose result would depend on it does not
// belong here.
class ThreadPool {
 public:
  // n_threads >= 1 counts the calling thread: 1 starts none. The system may give fewer: size().
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Threads that a parallel_for() of this thread can use: inside split(), those of its part.
  [[nodiscard]] int size() const;

  // Calls fn(begin, end) over [0, count) in ranges of about `grain` items, and returns when all are
  // done. A call made while another one is running (from another session or from inside fn) runs on
  // its own thread alone.
  void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> fn);

  // Calls fn(0) ... fn(parts - 1), each on a thread of its own with its share of the others: a
  // parallel_for() of this pool that fn makes uses those alone. They are as urgent as the caller.
  // For long work that never waits for its neighbours; 1 <= parts <= size(). Inside a range of a
  // parallel_for(), and where the system gives no threads, they come one after another on the
  // caller's thread. What fn throws comes out once all are done.
  void split(int parts, FunctionRef<void(int)> fn);

  // Of who computes with all of it, or in parts of it, and shares it with others.
  [[nodiscard]] Turns& turns();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mynah
