// Operations: checked first, then timed.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "check.h"
#include "ops/close.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::gpucheck {

namespace {

using cases::OpCase;
using cases::Values;

const char* name_of(cases::Arithmetic arithmetic) {
  switch (arithmetic) {
    case cases::Arithmetic::Int8:
      return "int8";
    case cases::Arithmetic::Bf16:
      return "bf16";
    default:
      return "f32";
  }
}

// Each of two backends may be off by the bound.
std::vector<Values> doubled(std::vector<Values> bounds) {
  for (Values& values : bounds) {
    for (float& value : values) {
      value *= 2.0F;
    }
  }
  return bounds;
}

// What a case gives by the processor, and how far a card may be off.
struct Expected {
  std::vector<Values> values;
  std::vector<Values> bounds;
};

// By the processor, which the table's tests hold to `ref`: `ref` itself would take minutes at these
// sizes. Bounds take longest, each on one thread, and so are computed side by side.
std::vector<Expected> expected_by_cpu(std::span<const OpCase> all, const Subject& subject) {
  std::vector<Expected> expected;
  expected.reserve(all.size());
  for (const OpCase& c : all) {
    expected.push_back(
        {.values = cases::read(*subject.cpu, c.prepare(*subject.cpu)()), .bounds = {}});
  }
  subject.pool->parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Expected& one = expected[static_cast<size_t>(i)];
      one.bounds = doubled(all[static_cast<size_t>(i)].bound(one.values));
    }
  });
  return expected;
}

Json timed_row(const char* kind, const OpCase& c, double seconds) {
  return {{"row", kind},
          {"name", c.title()},
          {"seconds", seconds},
          {"operations", c.operations},
          {"bytes", c.bytes},
          {"arithmetic", name_of(c.arithmetic)},
          {"operations_per_s", c.operations / seconds},
          {"bytes_per_s", c.bytes / seconds}};
}

struct Product {
  int64_t rows;
  int64_t in;
  int64_t out;
};

// Whisper large's, of 30 seconds, of a batch of 16 and of one to eight tokens; and a square one, as
// peaks are measured.
constexpr std::array kProducts = {
    Product{4096, 4096, 4096}, Product{1500, 1280, 1280}, Product{1500, 1280, 3840},
    Product{1500, 1280, 5120}, Product{1500, 5120, 1280}, Product{24000, 1280, 5120},
    Product{600, 1280, 5120},  Product{1, 1280, 3840},    Product{1, 1280, 5120},
    Product{1, 5120, 1280},    Product{1, 1280, 51866},   Product{8, 1280, 5120},
    Product{16, 1280, 51866}};
constexpr std::array kQuickProducts = {Product{48, 96, 72}, Product{3, 96, 72}};

constexpr std::array kTypes = {
    std::pair{DType::F16, Precision::Fast},  std::pair{DType::BF16, Precision::Fast},
    std::pair{DType::I8, Precision::Fast},   std::pair{DType::Q8_0, Precision::Fast},
    std::pair{DType::Q4_0, Precision::Fast}, std::pair{DType::F32, Precision::Exact}};

// `first`: the first rows by themselves, which must be as the processor's, and as the same rows of
// the whole are: those must not depend on their neighbours.
Json product_row(const OpCase& first, const OpCase& whole, const Expected& expected,
                 const Subject& subject, const Options& options, int level) {
  Backend& backend = *subject.backend;
  const std::string name =
      level == 0 ? whole.title() : fmt::format("{}, level {}", whole.title(), level);
  const auto alone = cases::read(backend, first.prepare(backend)());
  const cases::Step step = whole.prepare(backend);
  auto all = cases::read(backend, step());
  all.front().resize(alone.front().size());
  const std::string wrong = cases::disagreement(all, expected.values, expected.bounds);
  if (!wrong.empty()) {
    return {{"row", "product"}, {"name", name}, {"wrong", wrong}};
  }
  Json row = timed_row("product", whole, seconds_of(backend, options.quick, [&] { (void)step(); }));
  row["name"] = name;
  row["same_bits_alone"] = all == alone;
  if (whole.weight == DType::F16) {  // as fast as bfloat16 on every card that has both
    row["arithmetic"] = name_of(cases::Arithmetic::Bf16);
  }
  return row;
}

void say_products(DType dtype, Precision precision, const Subject& subject, const Options& options,
                  int level = 0) {
  const std::span<const Product> products = options.quick ? std::span<const Product>(kQuickProducts)
                                                          : std::span<const Product>(kProducts);
  constexpr int64_t kChecked = 16;
  std::vector<OpCase> firsts;
  for (const Product& p : products) {
    firsts.push_back(
        cases::timed_linear_case(std::min(p.rows, kChecked), p.in, p.out, dtype, precision));
  }
  const std::vector<Expected> expected = expected_by_cpu(firsts, subject);
  for (size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    say(product_row(firsts[i], cases::timed_linear_case(p.rows, p.in, p.out, dtype, precision),
                    expected[i], subject, options, level));
  }
}

// Of compute capability 9.0 alone: warpgroups and bulk copies. Such a card has the level below,
// too.
constexpr int kWarpgroupLevel = 90;
constexpr int kLevelBelow = 80;

Result<std::vector<int>> levels_of(const Options& options) {
  if (options.device == "simt:0") {
    return simt_levels();
  }
  MYNAH_TRY(const Subject subject, open_subject(options));
  return subject.card ? cuda_levels(*subject.card) : std::vector<int>();
}

}  // namespace

Status check_products(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  for (const auto& [dtype, precision] : kTypes) {
    say_products(dtype, precision, subject, options);
  }
  return {};
}

Status check_without_warpgroups(const Options& options) {
  MYNAH_TRY(const std::vector<int> levels, levels_of(options));
  if (std::ranges::find(levels, kWarpgroupLevel) == levels.end()) {
    say({{"row", "without"}, {"why", "the device has no warpgroups: that is Hopper's alone"}});
    return {};
  }
  MYNAH_TRY(const Subject subject, open_subject(options, kLevelBelow));
  for (const DType dtype : {DType::F16, DType::I8}) {
    say_products(dtype, Precision::Fast, subject, options, kLevelBelow);
  }
  return {};
}

Status check_operations(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  std::vector<OpCase> all;
  for (const OpCase& c : cases::op_cases()) {
    // Products have a section of their own.
    const bool wanted = options.quick ? !c.large && c.name.find("(1,") != std::string::npos
                                      : c.large && c.op != "linear";
    if (wanted && (!c.weight || subject.backend->supports_weight(*c.weight)) &&
        !(options.quick && all.size() == 8)) {
      all.push_back(c);
    }
  }
  const std::vector<Expected> expected = expected_by_cpu(all, subject);
  for (size_t i = 0; i < all.size(); ++i) {
    const OpCase& c = all[i];
    const cases::Step step = c.prepare(*subject.backend);
    const std::string wrong = cases::disagreement(cases::read(*subject.backend, step()),
                                                  expected[i].values, expected[i].bounds);
    if (!wrong.empty()) {
      say({{"row", "operation"}, {"name", c.title()}, {"wrong", wrong}});
      continue;
    }
    say(timed_row("operation", c,
                  seconds_of(*subject.backend, options.quick, [&] { (void)step(); })));
  }
  return {};
}

Status check_table(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  RefBackend ref;

  struct Count {
    int passed = 0;
    int failed = 0;
  };

  std::map<std::string, Count> counts;
  int rows = 0;
  for (const OpCase& c : cases::op_cases()) {
    if (c.large || (c.weight && !subject.backend->supports_weight(*c.weight)) ||
        (options.quick && ++rows % 40 != 0)) {
      continue;
    }
    const auto expected = cases::read(ref, c.prepare(ref)());
    const auto found = cases::read(*subject.backend, c.prepare(*subject.backend)());
    const std::string wrong = cases::disagreement(found, expected, c.bound(expected));
    (wrong.empty() ? counts[c.op].passed : counts[c.op].failed) += 1;
    if (!wrong.empty()) {
      say({{"row", "case"}, {"name", c.title()}, {"wrong", wrong}});
    }
  }
  for (const auto& [op, count] : counts) {
    say({{"row", "table"}, {"name", op}, {"passed", count.passed}, {"failed", count.failed}});
  }
  return {};
}

}  // namespace mynah::gpucheck
