#include "base/stop_scope.h"

#include <utility>

namespace mynah {
namespace {

thread_local std::stop_token here;

}  // namespace

const std::stop_token& stop_here() {
  return here;
}

StopScope::StopScope(std::stop_token stop) : before_(std::exchange(here, std::move(stop))) {}

StopScope::~StopScope() {
  here = std::move(before_);
}

}  // namespace mynah
