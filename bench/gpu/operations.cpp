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

// Against the processor, which the table's tests hold to `ref`: `ref` itself would take minutes at
// these sizes. Empty where they agree.
std::string disagreement_with_cpu(const OpCase& c, const Subject& subject) {
  const auto expected = cases::read(*subject.cpu, c.prepare(*subject.cpu)());
  const auto found = cases::read(*subject.backend, c.prepare(*subject.backend)());
  return cases::disagreement(found, expected, doubled(c.bound(expected)));
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

// The first rows by themselves: against the processor, and against the same rows of the whole,
// which must not depend on their neighbours.
Json product_row(const Product& p, DType dtype, Precision precision, const Subject& subject,
                 const Options& options, int level) {
  constexpr int64_t kChecked = 16;
  Backend& backend = *subject.backend;
  const OpCase first =
      cases::timed_linear_case(std::min(p.rows, kChecked), p.in, p.out, dtype, precision);
  const OpCase whole = cases::timed_linear_case(p.rows, p.in, p.out, dtype, precision);
  const std::string name =
      level == 0 ? whole.title() : fmt::format("{}, level {}", whole.title(), level);
  const auto expected = cases::read(*subject.cpu, first.prepare(*subject.cpu)());
  const auto alone = cases::read(backend, first.prepare(backend)());
  const cases::Step step = whole.prepare(backend);
  auto all = cases::read(backend, step());
  all.front().resize(alone.front().size());
  std::string wrong = cases::disagreement(all, expected, doubled(first.bound(expected)));
  if (!wrong.empty()) {
    return {{"row", "product"}, {"name", name}, {"wrong", wrong}};
  }
  Json row = timed_row("product", whole, seconds_of(backend, options.quick, [&] { (void)step(); }));
  row["name"] = name;
  row["same_bits_alone"] = all == alone;
  if (dtype == DType::F16) {  // as fast as bfloat16 on every card that has both
    row["arithmetic"] = name_of(cases::Arithmetic::Bf16);
  }
  return row;
}

void say_products(DType dtype, Precision precision, const Subject& subject, const Options& options,
                  int level = 0) {
  const std::span<const Product> products = options.quick ? std::span<const Product>(kQuickProducts)
                                                          : std::span<const Product>(kProducts);
  for (const Product& p : products) {
    say(product_row(p, dtype, precision, subject, options, level));
  }
}

// Of compute capability 9.0 alone: warpgroups and bulk copies.
constexpr int kWarpgroupLevel = 90;

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

Status check_warpgroups(const Options& options) {
  MYNAH_TRY(const std::vector<int> levels, levels_of(options));
  if (std::ranges::find(levels, kWarpgroupLevel) == levels.end()) {
    say({{"row", "without"}, {"why", "the device has no warpgroups: that is Hopper's alone"}});
    return {};
  }
  MYNAH_TRY(const Subject subject, open_subject(options, kWarpgroupLevel));
  for (const DType dtype : {DType::F16, DType::BF16, DType::I8}) {
    say_products(dtype, Precision::Fast, subject, options, kWarpgroupLevel);
  }
  return {};
}

Status check_operations(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  int quick_rows = 0;
  for (const OpCase& c : cases::op_cases()) {
    // Products have a section of their own.
    const bool wanted = options.quick ? !c.large && c.name.find("(1,") != std::string::npos
                                      : c.large && c.op != "linear";
    if (!wanted || (c.weight && !subject.backend->supports_weight(*c.weight)) ||
        (options.quick && ++quick_rows > 8)) {
      continue;
    }
    if (const std::string wrong = disagreement_with_cpu(c, subject); !wrong.empty()) {
      say({{"row", "operation"}, {"name", c.title()}, {"wrong", wrong}});
      continue;
    }
    const cases::Step step = c.prepare(*subject.backend);
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
