// After warm-up a step of a decoder asks the system for no memory: neither the pool of tensors nor
// operator new.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "ops/backends.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace {

std::atomic<int64_t>& allocations() {
  static std::atomic<int64_t> count{0};
  return count;
}

void* counted(size_t bytes, size_t alignment) {
  allocations().fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}

void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<size_t>(alignment));
}

// The analyzer holds that `delete` has freed the memory before it calls these.
// NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete)
void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t /*bytes*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

// NOLINTEND(clang-analyzer-cplusplus.NewDelete)

namespace mynah::cases {
namespace {

class AllocationTest : public testing::TestWithParam<std::string> {};

TEST_P(AllocationTest, ADecoderStepAllocatesNothingAfterWarmUp) {
  constexpr int64_t kWidth = 128;
  constexpr int64_t kVocabulary = 500;
  ThreadPool pool(2);
  const auto backend = make_backend(GetParam(), pool);
  Backend& b = *backend;
  const Tensor x = ops::from_host(b, normals(kWidth, 1), {1, kWidth});
  const Tensor gamma = ops::from_host(b, normals(kWidth, 2), {kWidth});
  const Tensor cache = ops::zeros(b, {64, kWidth}, DType::F16);
  const Tensor row = ops::from_host(b, std::vector<int32_t>{5}, {1});
  const LinearWeight square =
      ops::pack_linear(b, host_tensor({kWidth, kWidth}, DType::F32, 3), DType::I8);
  const LinearWeight out =
      ops::pack_linear(b, host_tensor({kVocabulary, kWidth}, DType::F32, 4), DType::F32);
  const Tensor spoken = ops::from_host(b, normals(40 * kWidth, 6), {40, kWidth});
  const KeysValues audio = ops::pack_keys_values(b, spoken, spoken, 2, Precision::Fast);
  const Tensor first_rows = spoken.narrow(0, 0, 30);
  const KeysValues own = ops::pack_keys_values(b, first_rows, first_rows, 2, Precision::Fast);
  const KeysValues* const audio_at = &own;
  const Span query{0, 1};
  const Span keys{0, 6};
  // One row with filters, one without.
  SampleRow plain;
  plain.penalties_count = 2;
  SampleRow filtered = plain;
  filtered.temperature = 1.0F;
  filtered.top_k = 9;
  filtered.typical_p = 0.9F;
  filtered.top_p = 0.9F;
  const std::vector<TokenPenalty> penalties = {{.token = 3, .factor = 1.3F},
                                               {.token = 40, .factor = TokenPenalty::kNever}};

  const auto step = [&] {
    const Tensor normed = ops::layer_norm(b, x, gamma, gamma);
    const Tensor q = ops::linear(b, normed, square, {.precision = Precision::Fast});
    ops::scatter_rows(b, q, row, cache);
    const Tensor mixed = ops::attention(b, q, cache, cache,
                                        {.heads = 2,
                                         .kv_heads = 2,
                                         .scale = 0.125F,
                                         .causal = true,
                                         .queries = std::span(&query, 1),
                                         .keys = std::span(&keys, 1)});
    const Tensor heard = ops::attention_packed(b, mixed,
                                               {.heads = 2,
                                                .scale = 0.125F,
                                                .queries = std::span(&query, 1),
                                                .keys = std::span(&audio_at, 1),
                                                .tail = &audio});
    const Tensor logits = ops::linear(b, ops::add(b, ops::gelu(b, heard), x), out);
    (void)ops::sample(b, logits, {.rows = std::span(&filtered, 1), .penalties = penalties});
    const auto sampled =
        ops::sample(b, logits, {.rows = std::span(&plain, 1), .penalties = penalties});
    int32_t id = -1;
    ops::to_host(b, sampled.ids, std::span(&id, 1));
    return id;
  };
  b.release_idle_memory();
  const size_t inputs = b.memory_held();
  const int32_t first = step();
  step();
  const int64_t before = allocations().load();
  const size_t held = b.memory_held();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(step(), first);
  }
  EXPECT_EQ(allocations().load() - before, 0);
  EXPECT_EQ(b.memory_held(), held);
  b.release_idle_memory();  // small blocks, too
  EXPECT_EQ(b.memory_held(), inputs);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AllocationTest);

// The simulation of a card allocates for itself.
std::vector<std::string> processors() {
  std::vector<std::string> names = backends_under_test();
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("cpu/"); });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, AllocationTest, testing::ValuesIn(processors()),
                         [](const testing::TestParamInfo<std::string>& subject) {
                           std::string name = subject.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace mynah::cases
