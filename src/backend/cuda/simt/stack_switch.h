// StackSwitch: tells the address sanitizer that a thread goes on on another stack, where it is
// built in; nothing elsewhere.
#pragma once

#include <cstddef>

#ifdef MYNAH_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace mynah::simt::detail {

// One a fiber. Without it the sanitizer takes an exception on a fiber's stack for one on the
// thread's own, and leaves marks behind that later look like errors.
class StackSwitch {
 public:
  // The fiber's stack: its lowest address.
  void set_stack(const void* bottom, size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }

  // Before a stack's memory goes back to the system: what stands there next is not to meet the
  // marks of the functions that never returned on it.
  static void clear([[maybe_unused]] const void* bottom, [[maybe_unused]] size_t bytes) {
#ifdef MYNAH_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(bottom, bytes);
#endif
  }

#ifdef MYNAH_ADDRESS_SANITIZER
  // Around what the thread's own stack calls to go to the fiber.
  void before_entering() { __sanitizer_start_switch_fiber(&thread_fake_, bottom_, bytes_); }

  void after_returning() { __sanitizer_finish_switch_fiber(thread_fake_, nullptr, nullptr); }

  // The same where the fiber's stack was unwound: nothing on it has said that it came or went.
  void after_unwinding() {
    const void* bottom = nullptr;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
    after_returning();
  }

  // On the fiber: at its first step, and around what it calls to go back.
  void at_begin() { __sanitizer_finish_switch_fiber(nullptr, &thread_bottom_, &thread_bytes_); }

  void before_leaving() {
    __sanitizer_start_switch_fiber(&fiber_fake_, thread_bottom_, thread_bytes_);
  }

  void after_coming_back() {
    __sanitizer_finish_switch_fiber(fiber_fake_, &thread_bottom_, &thread_bytes_);
  }

 private:
  void* thread_fake_ = nullptr;
  void* fiber_fake_ = nullptr;
  const void* thread_bottom_ = nullptr;
  size_t thread_bytes_ = 0;
#else
  void before_entering() {}

  void after_returning() {}

  void after_unwinding() {}

  void at_begin() {}

  void before_leaving() {}

  void after_coming_back() {}

 private:
#endif
  const void* bottom_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mynah::simt::detail
