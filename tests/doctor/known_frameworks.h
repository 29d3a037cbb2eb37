// Frameworks as their releases are known, without files.
#pragma once

#include <utility>

#include <gtest/gtest.h>

#include "doctor/knowledge/knowledge.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

inline Framework known(const char* name, const char* version, System system = System::Linux) {
  auto framework =
      known_framework(name, Version::parse(version).value(), system, builtin_knowledge());
  EXPECT_TRUE(framework) << name << " " << version;
  return framework ? *std::move(framework) : Framework();
}

}  // namespace mynah::doctor
