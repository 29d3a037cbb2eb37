// Weights: named tensors of a checkpoint on their way to a device; a path and a shape check in one
// line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "nn/blob_cache.h"
#include "ops/conv_transpose1d.h"
#include "tensor/backend.h"

namespace mynah {

// How weights are kept and computed with.
struct WeightOptions {
  std::optional<DType> storage;  // of matrices; none: as the file has them
  Precision precision = Precision::Exact;
  BlobCache* cache = nullptr;  // packed matrices are taken from it and added to it; may be null
};

// Where a stage of a model computes, and how its weights are kept there.
struct StageWeights {
  Backend* backend = nullptr;  // must outlive the model
  WeightOptions options;
};

// A prefix over the tensors of one model. Cheap to copy; alive only while a model is loaded, as
// long as the tensors' bytes.
class Weights {
 public:
  // `owner` keeps the tensors' bytes alive; it is kept only by embedding tables that are used as
  // they lie in the file.
  Weights(std::vector<StoredTensor> tensors, std::shared_ptr<const void> owner, Backend& backend,
          const WeightOptions& options);

  // The same tensors, kept and computed with in another way: a part of a model that wants more
  // precision than the rest.
  [[nodiscard]] Weights as(std::optional<DType> storage, Precision precision) const;

  // The tensors below "prefix.name".
  [[nodiscard]] Weights operator/(std::string_view name) const;
  [[nodiscard]] Weights operator/(int64_t index) const;

  [[nodiscard]] bool has(std::string_view name) const;
  // The shape of a tensor, for models whose sizes nothing else tells.
  [[nodiscard]] Result<Shape> shape(std::string_view name) const;
  // Whether there is a tensor of that name and shape, of a type that weights may have.
  [[nodiscard]] Status expect(std::string_view name, const Shape& shape) const;
  // The type that a tensor has in the file.
  [[nodiscard]] Result<DType> dtype(std::string_view name) const;
  // A tensor in f32 on the device, whatever its type in the file.
  [[nodiscard]] Result<Tensor> get(std::string_view name, const Shape& shape) const;
  // An embedding table (rows, d) in a type that ops::embedding reads: as it is where it can be.
  [[nodiscard]] Result<Tensor> table(std::string_view name, const Shape& shape) const;
  // A matrix (out, in) packed for ops::linear.
  [[nodiscard]] Result<LinearWeight> matrix(std::string_view name, int64_t out, int64_t in) const;
  // Several matrices of one width, stacked along their rows, `out` in sum, in one product.
  [[nodiscard]] Result<LinearWeight> stacked(std::span<const std::string_view> names, int64_t out,
                                             int64_t in) const;
  // Their biases, stacked in the same way; zeros where there is none; undefined where none has one.
  [[nodiscard]] Result<Tensor> stacked_bias(std::span<const std::string_view> names,
                                            int64_t out) const;
  // Matrices of experts for ops::routed_linear: "NAME.weight" (experts, any, in) of each name, all
  // of one type, each expert's stacked along their rows, `out` in sum.
  [[nodiscard]] Result<ExpertWeights> experts(std::span<const std::string_view> names,
                                              int64_t experts, int64_t out, int64_t in) const;
  // Their biases "NAME.bias" (experts, any), side by side in the same way: (experts, out). Either
  // all have one or none, then undefined.
  [[nodiscard]] Result<Tensor> expert_bias(std::span<const std::string_view> names, int64_t experts,
                                           int64_t out) const;
  // A kernel (out, in / groups, width) packed for ops::conv1d.
  [[nodiscard]] Result<LinearWeight> kernel(std::string_view name, const Shape& shape,
                                            int64_t groups = 1) const;
  // A kernel (in, out / groups, width) packed for ops::conv_transpose1d, without a bias.
  [[nodiscard]] Result<ConvTranspose1dWeight> transposed_kernel(
      std::string_view name, int64_t in, int64_t out, const ConvTranspose1dSizes& sizes) const;

  [[nodiscard]] Backend& backend() const { return *model_->backend; }

  [[nodiscard]] Precision precision() const { return precision_; }

 private:
  struct Model {
    std::vector<StoredTensor> tensors;
    std::unordered_map<std::string_view, const StoredTensor*> by_name;
    std::shared_ptr<const void> owner;
    Backend* backend = nullptr;
    BlobCache* cache = nullptr;
  };

  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] Result<const StoredTensor*> find(std::string_view name, const Shape& shape) const;
  // The matrices NAME.weight (any, in), whose rows are `out` in sum.
  [[nodiscard]] Result<std::vector<const StoredTensor*>> parts(
      std::span<const std::string_view> names, int64_t out, int64_t in) const;
  [[nodiscard]] Result<DType> storage_for(const StoredTensor& tensor, int64_t in) const;
  [[nodiscard]] DType kernel_storage_for(const StoredTensor& tensor) const;
  // The blob of that name in the cache, on the device; none where there is none.
  [[nodiscard]] std::optional<Tensor> cached(const std::string& blob_name) const;
  void add_to_cache(const std::string& blob_name, const Tensor& data) const;
  template <class Pack>
  Result<LinearWeight> packed(const std::string& name, DType storage, int64_t out, int64_t in,
                              Pack pack) const;

  std::shared_ptr<const Model> model_;
  std::optional<DType> storage_;
  Precision precision_;
  std::string prefix_;
};

}  // namespace mynah
