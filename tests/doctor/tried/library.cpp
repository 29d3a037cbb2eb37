// What a library of a framework does that hangs, crashes or computes: for watch_test.cpp. Each
// returns something that depends on what it called, so that no call is a jump.
#include <cstdint>

#include <unistd.h>

extern "C" {

volatile int tried_flag = 0;
volatile double tried_sum = 0;

// Waits inside of the kernel for a descriptor that never has anything, as a driver's call does.
int tried_wait(int fd) {
  char byte = 0;
  return static_cast<int>(::read(fd, &byte, 1)) + tried_flag;
}

// Goes round until another thread or a card sets a word.
int tried_spin() {
  while (tried_flag == 0) {
  }
  return tried_flag;
}

int tried_crash() {
  volatile int* nowhere = nullptr;
  return *nowhere + tried_flag;  // NOLINT: on purpose
}

// Computes for a long time.
int tried_work(int64_t rounds) {
  double sum = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    sum += static_cast<double>(i) / (sum + 1);
  }
  tried_sum = sum;
  return tried_flag;
}

// Another function of the library on the way.
int tried_load_then(int (*function)()) {
  return function() + 1;
}

int tried_load_then_wait(int fd) {
  return tried_wait(fd) + 1;
}
}
