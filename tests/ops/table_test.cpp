// The table of operation cases: every backend at every instruction set against ref.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "ops/backends.h"
#include "ops/close.h"
#include "ops/op_case.h"

namespace mynah::cases {
namespace {

const std::vector<OpCase>& table() {
  static const std::vector<OpCase> cases = op_cases();
  return cases;
}

std::vector<std::string> operations() {
  std::set<std::string> names;
  for (const OpCase& c : table()) {
    names.insert(c.op);
  }
  return {names.begin(), names.end()};
}

TEST(Table, NamesEveryRowOnce) {
  std::set<std::string> titles;
  for (const OpCase& c : table()) {
    EXPECT_TRUE(titles.insert(c.title()).second) << c.title();
  }
}

// What ref gives, and how far from it a backend may be: computed once for all backends.
struct Expected {
  std::vector<Values> values;
  std::vector<Values> bounds;
};

const Expected& expected_of(const OpCase& c) {
  static std::map<std::string, Expected> known;
  const auto [at, fresh] = known.try_emplace(c.title());
  if (fresh) {
    RefBackend ref;
    at->second.values = read(ref, c.prepare(ref)());
    at->second.bounds = c.bound(at->second.values);
  }
  return at->second;
}

struct Subject {
  std::string backend;
  std::string op;
};

std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  return out << subject.backend << ' ' << subject.op;
}

class TableTest : public testing::TestWithParam<Subject> {
 protected:
  static bool is_run_by(const OpCase& c, const Backend& backend) {
    return c.op == GetParam().op && !c.large &&
           (!c.weight.has_value() || backend.supports_weight(*c.weight));
  }
};

TEST_P(TableTest, AgreesWithRef) {
  ThreadPool pool(2);
  const auto backend = make_backend(GetParam().backend, pool);
  int rows = 0;
  for (const OpCase& c : table()) {
    if (!is_run_by(c, *backend)) {
      continue;
    }
    const Expected& expected = expected_of(c);
    EXPECT_EQ(disagreement(read(*backend, c.prepare(*backend)()), expected.values, expected.bounds),
              "")
        << c.title();
    ++rows;
  }
  EXPECT_GT(rows, 0);
}

// Any number of threads, and any earlier work of the same backend, gives the same bits; and after a
// first run, the same operations hold no more memory.
TEST_P(TableTest, GivesTheSameBitsOnAnyNumberOfThreadsInTheSameMemory) {
  ThreadPool one(1);
  ThreadPool two(2);
  ThreadPool three(3);
  const auto alone = make_backend(GetParam().backend, one);
  const auto of_two = make_backend(GetParam().backend, two);
  const auto of_three = make_backend(GetParam().backend, three);
  // A simulated card takes minutes for all rows: of the runs that repeat a row there is one.
  const int repeats = GetParam().backend.starts_with("simt/") ? 1 : 3;
  for (const OpCase& c : table()) {
    if (!is_run_by(c, *alone)) {
      continue;
    }
    SCOPED_TRACE(c.title());
    const Step step = c.prepare(*alone);
    const std::vector<Values> wanted = read(*alone, step());
    const std::vector<Values> exact = exact_bounds(wanted);
    const size_t held = alone->memory_held();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      EXPECT_EQ(disagreement(read(*alone, step()), wanted, exact), "");
      EXPECT_EQ(alone->memory_held(), held);
    }
    for (Backend* const backend : {of_two.get(), of_three.get()}) {
      const Step shared = c.prepare(*backend);
      for (int repeat = 0; repeat < (repeats + 1) / 2; ++repeat) {
        EXPECT_EQ(disagreement(read(*backend, shared()), wanted, exact), "")
            << "on " << (backend == of_two.get() ? 2 : 3) << " threads";
      }
    }
  }
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const std::string& backend : backends_under_test()) {
    for (const std::string& op : operations()) {
      all.push_back({backend, op});
    }
  }
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TableTest);
INSTANTIATE_TEST_SUITE_P(Backends, TableTest, testing::ValuesIn(subjects()),
                         [](const testing::TestParamInfo<Subject>& subject) {
                           std::string name = subject.param.backend + "_" + subject.param.op;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace mynah::cases
