// Reads PyTorch's zip checkpoints (torch.save since 1.6).
#pragma once

#include <memory>

#include "formats/tensor_file.h"

namespace mynah {

// Layout: pytorch/pytorch torch/serialization.py, _save: NAME/data.pkl and NAME/data/KEY. Keys of
// nested dictionaries and lists are joined by "." into tensors' names ("model_state_dict.w");
// numbers, strings, booleans and lists of them become metadata under such names. Tensors with
// strides are made contiguous. The pickle may name tensors, storages, dtypes and OrderedDict only:
// a checkpoint that names anything else (TorchScript, whole modules) is refused with that name, and
// nothing of it is run. Big-endian checkpoints are refused.
[[nodiscard]] Result<TensorFile> read_pytorch(const std::shared_ptr<const MappedFile>& file);

}  // namespace mynah
