// The anchors: the first that stands at a place says who speaks.
#include "core/explain/producers.hpp"

#include <array>

namespace ledger::message {
namespace {

constexpr std::string_view kBinary = "powers of 1024, rounded to the digits printed";
constexpr std::string_view kSegments =
    "powers of 1024; the request is printed as the segment asked of the device: 2 MiB, 20 MiB, or "
    "rounded up to a multiple of 2 MiB";
constexpr std::string_view kLying = "\"GB\" and \"MB\" are powers of 1024";
constexpr std::string_view kBytes = "bytes";  // exact

constexpr std::array kProducers = {
    ProducerRow{Producer::kUnknown, "unknown", "An unknown program", Memory::kEither,
                Rounding::kNone, "not known", ""},
    ProducerRow{Producer::kCuda, "torch_cuda", "PyTorch, CUDA caching allocator", Memory::kDevice,
                Rounding::kSegment, kSegments, "c10/cuda/CUDACachingAllocator.cpp"},
    ProducerRow{Producer::kHip, "torch_hip", "PyTorch, ROCm caching allocator", Memory::kDevice,
                Rounding::kSegment, kSegments, "c10/cuda/CUDACachingAllocator.cpp, hipified"},
    ProducerRow{Producer::kXpu, "torch_xpu", "PyTorch, Intel GPU caching allocator",
                Memory::kDevice, Rounding::kSegment, kSegments, "c10/xpu/XPUCachingAllocator.cpp"},
    ProducerRow{Producer::kIpex, "ipex", "Intel Extension for PyTorch, older", Memory::kDevice,
                Rounding::kExact, kBinary, "intel-extension-for-pytorch"},
    ProducerRow{Producer::kNpu, "torch_npu", "PyTorch on Ascend NPU", Memory::kDevice,
                Rounding::kSegment, kSegments, "torch_npu NPUCachingAllocator.cpp"},
    ProducerRow{Producer::kFork, "torch_fork",
                "PyTorch on another maker's device, a fork of the "
                "CUDA allocator",
                Memory::kDevice, Rounding::kSegment, kSegments,
                "forks of c10/cuda/CUDACachingAllocator.cpp"},
    ProducerRow{Producer::kMallocAsync, "cuda_malloc_async", "PyTorch with cudaMallocAsync",
                Memory::kDevice, Rounding::kBlock512,
                "powers of 1024; the request is not rounded to segments",
                "c10/cuda/CUDAMallocAsyncAllocator.cpp"},
    ProducerRow{Producer::kMps, "torch_mps", "PyTorch on Apple's MPS", Memory::kUnified,
                Rounding::kNone, "powers of 1024, also where \"GB\" and \"MB\" are printed",
                "aten/src/ATen/mps/MPSAllocator.h"},
    ProducerRow{Producer::kCpu, "torch_cpu", "PyTorch, CPU allocator", Memory::kHost,
                Rounding::kExact, "bytes, the exact request", "c10/core/impl/alloc_cpu.cpp"},
    ProducerRow{Producer::kHpu, "habana", "PyTorch on Habana Gaudi", Memory::kDevice,
                Rounding::kExact, "bytes, exact; \"MB\" is 2^20 bytes", "arithmetic on a message"},
    ProducerRow{Producer::kNeuron, "neuron", "AWS Neuron runtime", Memory::kDevice,
                Rounding::kExact, kBytes, "a public message"},
    ProducerRow{Producer::kRawCuda, "cuda", "A CUDA library, without figures", Memory::kDevice,
                Rounding::kNone, "no figures", "CUDA runtime"},
    ProducerRow{Producer::kSummary, "torch_memory_summary", "torch.cuda's memory report",
                Memory::kDevice, Rounding::kNone, "powers of 1024, cut off to whole units",
                "torch/cuda/memory.py"},
    ProducerRow{Producer::kNccl, "nccl", "NCCL", Memory::kDevice, Rounding::kExact, kBytes,
                "NVIDIA/nccl src/include/alloc.h"},
    ProducerRow{Producer::kBitsandbytes, "bitsandbytes", "bitsandbytes", Memory::kEither,
                Rounding::kNone, "no figures", "bitsandbytes csrc/compat.cuh"},
    ProducerRow{Producer::kDeepspeed, "deepspeed", "DeepSpeed", Memory::kEither, Rounding::kNone,
                kLying, "deepspeed/runtime/utils.py"},
    ProducerRow{Producer::kVllm, "vllm", "vLLM", Memory::kDevice, Rounding::kNone,
                "powers of 1024, also where \"GB\" is printed", "vllm/v1/core/kv_cache_utils.py"},
    ProducerRow{Producer::kSglang, "sglang", "SGLang", Memory::kDevice, Rounding::kNone, kLying,
                "arithmetic on a message"},
    ProducerRow{Producer::kTgi, "tgi", "Text Generation Inference", Memory::kDevice,
                Rounding::kNone, kBinary, "a public message"},
    ProducerRow{Producer::kRay, "ray", "Ray's memory monitor", Memory::kHost, Rounding::kNone,
                kLying, "ray src/ray/common/memory_monitor.cc"},
    ProducerRow{Producer::kKilled, "killed", "A launcher, of a process that was killed",
                Memory::kHost, Rounding::kNone, "no figures", ""},
    ProducerRow{Producer::kKernel, "linux", "The Linux kernel's OOM killer", Memory::kHost,
                Rounding::kNone, "\"kB\" is 1024 bytes", "Linux mm/oom_kill.c"},
    ProducerRow{Producer::kSlurm, "slurm", "Slurm", Memory::kHost, Rounding::kNone, "no figures",
                ""},
    ProducerRow{Producer::kKubernetes, "kubernetes", "Kubernetes or a container's runtime",
                Memory::kHost, Rounding::kNone, "no figures", ""},
    ProducerRow{Producer::kXla, "xla", "JAX or XLA", Memory::kDevice, Rounding::kExact, kBinary,
                "arithmetic on a message"},
    ProducerRow{Producer::kXlaTpu, "xla_tpu", "XLA on TPU", Memory::kDevice, Rounding::kNone,
                "G, M and K are powers of 1024", "arithmetic on a message"},
    ProducerRow{Producer::kTensorflow, "tensorflow", "TensorFlow", Memory::kDevice,
                Rounding::kExact, "the shape times the size of its type; else powers of 1024",
                "public messages"},
    ProducerRow{Producer::kGgml, "ggml", "llama.cpp or ggml", Memory::kEither, Rounding::kExact,
                "powers of 1024, also where older builds print \"MB\"; sizes of buffers in bytes",
                "ggml"},
    ProducerRow{Producer::kOllama, "ollama", "Ollama", Memory::kEither, Rounding::kNone, kBinary,
                "ollama"},
    ProducerRow{Producer::kMlx, "mlx", "MLX", Memory::kUnified, Rounding::kExact, kBytes,
                "mlx/backend/metal/allocator.cpp"},
    ProducerRow{Producer::kLlmc, "llmc", "llm.c", Memory::kDevice, Rounding::kNone,
                "powers of 1024, cut off to whole MiB", "llm.c"},
    ProducerRow{Producer::kPython, "python", "Python or NumPy", Memory::kHost, Rounding::kNone,
                "powers of 1024", "numpy/_core/_exceptions.py"},
    ProducerRow{Producer::kFramework, "framework",
                "Another framework (CuPy, Paddle, MindSpore, ONNX Runtime)", Memory::kDevice,
                Rounding::kExact, "bytes, or powers of 1024", "public messages"},
    ProducerRow{Producer::kTriton, "triton", "Triton", Memory::kDevice, Rounding::kExact, kBytes,
                "triton/runtime/errors.py"},
    ProducerRow{Producer::kTrainerLog, "trainer_log", "A trainer's log", Memory::kDevice,
                Rounding::kNone,
                "powers of 1024, also where \"GB\" is printed (litgpt alone: 1000)",
                "the trainers' sources"},
    ProducerRow{Producer::kNvidiaSmi, "nvidia_smi", "nvidia-smi", Memory::kDevice, Rounding::kNone,
                "powers of 1024", "nvidia-smi"},
    ProducerRow{Producer::kWords, "words", "Somebody's words", Memory::kEither, Rounding::kNone,
                "as printed; GB may be powers of 1000 or of 1024", ""},
};

constexpr Severity kWarning = Severity::kWarning, kLog = Severity::kLog;

constexpr std::array kAnchors = {
    // Warnings that read like failures stand first.
    Anchor{"failed to clone() tensor", Producer::kCuda, kWarning, true,
           "training goes on, but the checkpoint that is written lacks this tensor"},
    Anchor{"allocator (gpu_#_bfc) ran out of memory", Producer::kTensorflow, kWarning, true,
           "the caller goes on without this memory"},
    Anchor{"allocator (*) ran out of memory trying", Producer::kTensorflow, kWarning, true,
           "the caller goes on without this memory"},
    Anchor{"allocation of # exceeds #% of", Producer::kTensorflow, kWarning, true,
           "a large allocation of host memory, which was made"},
    Anchor{"can't reduce memory use below", Producer::kXla, kWarning, true,
           "the compiler could not shrink the program as far as it wished; it may still fit"},
    // Sentences that begin one message of PyTorch, and its parts that may stand alone.
    Anchor{"hip out of memory", Producer::kHip},
    Anchor{"xpu out of memory", Producer::kXpu},
    Anchor{"npu out of memory", Producer::kNpu},
    Anchor{"musa out of memory", Producer::kFork},
    Anchor{"mlu out of memory", Producer::kFork},
    Anchor{"gcu out of memory", Producer::kFork},
    Anchor{"supa out of memory", Producer::kFork},
    Anchor{"mps backend out of memory", Producer::kMps},
    Anchor{"invalid buffer size", Producer::kMps},
    Anchor{"cuda out of memory", Producer::kCuda},
    Anchor{"allocation on device # would exceed allowed memory", Producer::kMallocAsync},
    Anchor{"currently allocated:", Producer::kMallocAsync, Severity::kError, false},
    Anchor{"current platform can not allocate memory block", Producer::kIpex},
    Anchor{"has a total capac*ty of", Producer::kCuda, Severity::kError, false},
    Anchor{"defaultcpuallocator:", Producer::kCpu},
    Anchor{"$ torch: not enough memory", Producer::kCpu},
    Anchor{"module:pt_devmem", Producer::kHpu},
    Anchor{"nrt allocation failed", Producer::kNeuron},
    Anchor{"pytorch cuda memory summary", Producer::kSummary, kLog},
    Anchor{"process * uses # mb gpu memory", Producer::kSummary, kLog},
    Anchor{"cuda error: out of memory", Producer::kRawCuda},
    Anchor{"cuda driver error: out of memory", Producer::kRawCuda},
    Anchor{"cublas_status_alloc_failed", Producer::kRawCuda},
    Anchor{"cudnn_status_alloc_failed", Producer::kRawCuda},
    Anchor{"unable to find a valid cudnn algorithm", Producer::kRawCuda},
    Anchor{"cudnn_status_not_supported", Producer::kRawCuda},
    Anchor{"cudaerrormemoryallocation", Producer::kRawCuda},
    Anchor{"hiperroroutofmemory", Producer::kRawCuda},
    // NCCL, bitsandbytes, DeepSpeed
    Anchor{"nccl warn cuda failure", Producer::kNccl},
    Anchor{"nccl warn failed to cuda", Producer::kNccl, Severity::kError, false},
    Anchor{"cuda failure * \'out of memory", Producer::kNccl, Severity::kError, false},
    Anchor{"failed to cuda calloc", Producer::kNccl, Severity::kError, false},
    Anchor{"failed to cuda malloc", Producer::kNccl, Severity::kError, false},
    Anchor{"ncclunhandledcudaerror", Producer::kNccl, Severity::kError, false},
    Anchor{"nccl error in", Producer::kNccl, Severity::kError, false},
    Anchor{"error out of memory at line", Producer::kBitsandbytes},
    Anchor{"more elements # than buffer size", Producer::kDeepspeed},
    Anchor{"<max_ma", Producer::kDeepspeed, kLog, false},
    Anchor{"cpu virtual memory: used", Producer::kDeepspeed, kLog, false},
    Anchor{"see_memory_usage", Producer::kDeepspeed, kLog, false},
    Anchor{"max_mem_allocated", Producer::kDeepspeed, kLog, false},
    Anchor{"memallocated=", Producer::kDeepspeed, kLog, false},
    Anchor{"memstats", Producer::kDeepspeed, kLog, false},
    Anchor{"| offload_param=", Producer::kDeepspeed, kLog, false},
    Anchor{"total params, # m largest layer", Producer::kDeepspeed, kLog, false},
    // servers
    Anchor{"no available memory for the cache blocks", Producer::kVllm},
    Anchor{"to serve at least one request with the model", Producer::kVllm},
    Anchor{"the model's max seq len", Producer::kVllm, Severity::kError, false},
    Anchor{"free memory on device", Producer::kVllm},
    Anchor{"available kv cache memory", Producer::kVllm, kLog, false},
    Anchor{"gpu kv cache size", Producer::kVllm, kLog, false},
    Anchor{"loading model weights took", Producer::kVllm, kLog, false},
    Anchor{"model loading took", Producer::kVllm, kLog, false},
    Anchor{"non_torch_memory", Producer::kVllm, kLog, false},
    Anchor{"<gpu blocks:", Producer::kVllm, kLog, false},
    Anchor{"not enough memory. please try to increase --mem-fraction-static", Producer::kSglang},
    Anchor{"kv cache is allocated.", Producer::kSglang, kLog, false},
    Anchor{"load weight end", Producer::kSglang, kLog, false},
    Anchor{"load weight begin", Producer::kSglang, kLog, false},
    Anchor{"memory pool end", Producer::kSglang, kLog, false},
    Anchor{"max_total_num_tokens", Producer::kSglang, kLog, false},
    Anchor{"available_gpu_mem", Producer::kSglang, kLog, false},
    Anchor{"not enough memory to handle", Producer::kTgi},
    // the host
    Anchor{"killed due to the node running low on memory", Producer::kRay},
    Anchor{"memory on the node", Producer::kRay, Severity::kError, false},
    Anchor{"ray.exceptions.outofmemoryerror", Producer::kRay, Severity::kError, false},
    Anchor{"rayoutofmemoryerror", Producer::kRay},
    Anchor{"of the memory on node", Producer::kRay, Severity::kError, false},
    Anchor{"killed by sigkill by oom killer", Producer::kRay},
    Anchor{"out of memory: kill", Producer::kKernel},
    Anchor{"memory cgroup out of memory", Producer::kKernel},
    Anchor{"invoked oom-killer", Producer::kKernel},
    Anchor{"oom_reaper", Producer::kKernel, Severity::kError, false},
    Anchor{"oom_score_adj", Producer::kKernel, Severity::kError, false},
    Anchor{"total-vm:", Producer::kKernel, Severity::kError, false},
    Anchor{"oom-kill event", Producer::kSlurm},
    Anchor{"oom_kill event", Producer::kSlurm},
    Anchor{"exceeded memory limit", Producer::kSlurm},
    Anchor{"exceeded job memory limit", Producer::kSlurm},
    Anchor{"<oomkilled", Producer::kKubernetes},
    Anchor{"return code = -9", Producer::kKilled},
    Anchor{"exitcode: -9", Producer::kKilled},
    Anchor{"exit code: -9", Producer::kKilled},
    Anchor{"exit code -9", Producer::kKilled},
    Anchor{"exit code 137", Producer::kKilled},
    Anchor{"exit code: 137", Producer::kKilled},
    Anchor{"exitcode: 137", Producer::kKilled},
    Anchor{"<exit 137", Producer::kKilled},
    Anchor{"signal 9", Producer::kKilled},
    Anchor{"<sigkill", Producer::kKilled},
    // XLA, TensorFlow
    Anchor{"xla:tpu compile permanent error", Producer::kXlaTpu},
    Anchor{"ran out of memory in memory space", Producer::kXlaTpu, Severity::kError, false},
    Anchor{"total hbm usage", Producer::kXlaTpu, Severity::kError, false},
    Anchor{"unpadded size", Producer::kXlaTpu, Severity::kError, false},
    Anchor{"attempting to allocate # g. that was not possible", Producer::kXlaTpu},
    Anchor{"attempting to allocate # m. that was not possible", Producer::kXlaTpu},
    Anchor{"attempting to reserve", Producer::kXlaTpu},
    Anchor{"resourceexhaustederror", Producer::kTensorflow, Severity::kError, false},
    Anchor{"sum total of in-use chunks", Producer::kTensorflow, kLog, false},
    Anchor{"total_region_allocated_bytes_", Producer::kTensorflow, kLog, false},
    Anchor{"oom when allocating tensor with shape", Producer::kTensorflow},
    Anchor{"on host: cuda_error_out_of_memory", Producer::kTensorflow, Severity::kError, false},
    Anchor{"failed to alloc # bytes on host", Producer::kTensorflow},
    Anchor{"failed to allocate # from device: cuda_error_out_of_memory", Producer::kTensorflow},
    Anchor{"<cupy.cuda.memory", Producer::kFramework},
    Anchor{"out of memory error on gpu", Producer::kFramework},
    Anchor{"bfcarena::allocaterawinternal", Producer::kFramework, Severity::kError, false},
    Anchor{"memory isn't enough", Producer::kFramework, Severity::kError, false},
    Anchor{"out of resource: shared memory", Producer::kTriton},
    Anchor{"unable to allocate # gib for an array", Producer::kPython},
    Anchor{"unable to allocate # mib for an array", Producer::kPython},
    Anchor{"unable to allocate # tib for an array", Producer::kPython},
    Anchor{"unable to allocate array with shape", Producer::kPython},
    Anchor{"<memoryerror>", Producer::kPython, Severity::kError, false},
    Anchor{"tcmalloc: large alloc", Producer::kPython, kWarning, true,
           "a large allocation of host memory, which was made"},
    Anchor{"out of memory while trying to allocate", Producer::kXla},
    Anchor{"[executable_name=", Producer::kXla, Severity::kError, false},
    Anchor{"out of memory allocating # bytes", Producer::kXla},
    Anchor{"failed to allocate request for", Producer::kXla},
    Anchor{"resource_exhausted:", Producer::kXla, Severity::kError, false},
    // ggml and its users, MLX, llm.c
    Anchor{"requires more system memory", Producer::kOllama},
    Anchor{"insufficient memory - required allocations", Producer::kOllama},
    Anchor{"ggml_backend_*_buffer_type_alloc_buffer", Producer::kGgml},
    Anchor{"alloc_tensor_range", Producer::kGgml, Severity::kError, false},
    Anchor{"failed to allocate buffer for kv cache", Producer::kGgml, Severity::kError, false},
    Anchor{"ggml_gallocr_reserve", Producer::kGgml, Severity::kError, false},
    Anchor{"failed to allocate buffer of size", Producer::kGgml, Severity::kError, false},
    Anchor{"failed to allocate * buffer of size", Producer::kGgml, Severity::kError, false},
    Anchor{"ggml_aligned_malloc", Producer::kGgml},
    Anchor{"ggml_cuda_host_malloc: failed", Producer::kGgml},
    Anchor{"ggml_vulkan: device memory allocation", Producer::kGgml},
    Anchor{"ggml_vulkan: requested buffer size exceeds", Producer::kGgml, Severity::kError, false},
    Anchor{"unable to allocate * buffer", Producer::kGgml, Severity::kError, false},
    Anchor{"failed to allocate compute buffers", Producer::kGgml, Severity::kError, false},
    Anchor{"ggml_allocr_alloc", Producer::kGgml},
    Anchor{"ggml_cuda*: cudamalloc failed", Producer::kGgml, Severity::kError, false},
    Anchor{"cudamalloc failed", Producer::kGgml, Severity::kError, false},
    Anchor{"llama_kv_cache", Producer::kGgml, kLog, false},
    Anchor{"kv self size", Producer::kGgml, kLog, false},
    Anchor{"model buffer size", Producer::kGgml, kLog, false},
    Anchor{"compute buffer size", Producer::kGgml, kLog, false},
    Anchor{"[metal::malloc]", Producer::kMlx},
    Anchor{"[metal] command buffer execution failed: insufficient memory", Producer::kMlx},
    Anchor{"[malloc] unable", Producer::kMlx},
    Anchor{"[malloc_or_wait]", Producer::kMlx},
    Anchor{"[cuda error] at file", Producer::kLlmc},
    Anchor{"device memory usage:", Producer::kLlmc, kLog, false},
    Anchor{"memory per sequence:", Producer::kLlmc, kLog, false},
    Anchor{"allocating # mib for", Producer::kLlmc, kLog, false},
    // logs of trainers and tools
    Anchor{"theoretical memory footprints", Producer::kTrainerLog, kLog, false},
    Anchor{"memory (mb) |", Producer::kTrainerLog, kLog, false},
    Anchor{"train_mem_", Producer::kTrainerLog, kLog, false},
    Anchor{"cuda peak memory reserved", Producer::kTrainerLog, kLog, false},
    Anchor{"cuda capacity:", Producer::kTrainerLog, kLog, false},
    Anchor{"max memory: #", Producer::kTrainerLog, kLog, false},
    Anchor{"memory (gib)", Producer::kTrainerLog, kLog, false},
    Anchor{"'memory(gib)'", Producer::kTrainerLog, kLog, false},
    Anchor{"memory used: #", Producer::kTrainerLog, kLog, false},
    Anchor{"max cuda memory", Producer::kTrainerLog, kLog, false},
    Anchor{"using (gb)", Producer::kTrainerLog, kLog, false},
    Anchor{"gpu memory: #", Producer::kTrainerLog, kLog, false},
    Anchor{"vram_reserved", Producer::kTrainerLog, kLog, false},
    Anchor{"vram_allocated", Producer::kTrainerLog, kLog, false},
    Anchor{"max_memory_allocated_gb", Producer::kTrainerLog, kLog, false},
    Anchor{"memory allocated (gb)", Producer::kTrainerLog, kLog, false},
    Anchor{"memory/max_", Producer::kTrainerLog, kLog, false},
    Anchor{"<baseline # gb", Producer::kTrainerLog, kLog, false},
    Anchor{"<memory: # gib(", Producer::kTrainerLog, kLog, false},
    Anchor{"nvidia-smi", Producer::kNvidiaSmi, kLog, false},
    Anchor{"mib / # mib |", Producer::kNvidiaSmi, kLog, false},
    // anybody
    Anchor{"torch.cuda.outofmemoryerror", Producer::kCuda, Severity::kError, false},
    Anchor{"torch.outofmemoryerror", Producer::kCuda, Severity::kError, false},
    Anchor{"tried to allocate", Producer::kCuda, Severity::kError, false},
    Anchor{"<cuda oom>", Producer::kWords, Severity::kError, false},
    Anchor{"out of memory", Producer::kWords, Severity::kError, false},
    Anchor{"outofmemory", Producer::kWords, Severity::kError, false},
    Anchor{"trying to allocate", Producer::kWords, Severity::kError, false},
    Anchor{"tries to allocate", Producer::kWords, Severity::kError, false},
    Anchor{"not enough memory", Producer::kWords, Severity::kError, false},
    Anchor{"insufficient memory", Producer::kWords, Severity::kError, false},
    Anchor{"cannot allocate memory", Producer::kWords, Severity::kError, false},
    Anchor{"<oom>", Producer::kWords, Severity::kError, false},
    Anchor{"<ooms>", Producer::kWords, Severity::kError, false},
};

// The anchors by the first character of their words, so that most places cost one look.
struct ByFirst {
  std::array<std::uint8_t, 256> first{};  // number of the first anchor of that character, from 1
  std::array<std::uint8_t, kAnchors.size()> next{};  // of the same, in order; 0 ends
};

constexpr ByFirst by_first() {
  ByFirst out;
  static_assert(kAnchors.size() < 255, "their numbers take a byte");
  for (std::size_t n = kAnchors.size(); n-- > 0;) {
    const char* words = kAnchors[n].words;
    const auto c = static_cast<unsigned char>(words[0] == '<' ? words[1] : words[0]);
    out.next[n] = out.first[c];
    out.first[c] = static_cast<std::uint8_t>(n + 1);
  }
  return out;
}
constexpr ByFirst kByFirst = by_first();

struct Feature {
  Producer producer;
  const char* words;  // that the message has
  const char* lacks;  // and has not; "" for anything
  std::string_view versions;
};

constexpr std::array kFeatures = {
    Feature{Producer::kCuda, "cached>)", "", "1.0 to 1.3"},
    Feature{Producer::kCuda, "cached)", "", "1.0 to 1.3"},
    Feature{Producer::kCuda, "total capacty", "", "2.1"},
    Feature{Producer::kCuda, "<pytorch_alloc_conf", "", "2.9 or later"},
    Feature{Producer::kCuda, "is free", "", "2.2 to 2.8"},
    Feature{Producer::kCuda, "reserved in total by pytorch)if reserved memory is", "",
            "1.10 to 2.0"},
    Feature{Producer::kCuda, "already allocated", "pytorch_cuda_alloc_conf", "1.4 to 2.0"},
    Feature{Producer::kCuda, "already allocated", "", "1.10 to 2.0"},
    Feature{Producer::kCuda, "more than 1eb memory", "", ""},
    Feature{Producer::kHip, "already allocated", "", "1.x to 2.0"},
    Feature{Producer::kHip, "is free", "", "2.1 or later"},
    Feature{Producer::kMps, "gib", "", "about 2.5 or later"},
    Feature{Producer::kMps, "gb", "", "up to about 2.5"},
    Feature{Producer::kNpu, "is free", "", "2.1 or later"},
    Feature{Producer::kVllm, "the model's max seq len(#)is larger", "", "0.x, engine v0"},
    Feature{Producer::kVllm, "kv cache is needed", "", "engine v1"},
    Feature{Producer::kRay, "rayoutofmemoryerror", "", "before 2.0"},
    Feature{Producer::kTensorflow, "and type", "", "1.x or 2.x"},
};

}  // namespace

const ProducerRow& row_of(Producer producer) {
  return kProducers[static_cast<std::size_t>(producer)];
}

const Anchor* anchor_at(const Squeezed& s, std::size_t i) {
  const auto c = static_cast<unsigned char>(s.text[i]);
  for (std::size_t n = kByFirst.first[c]; n > 0; n = kByFirst.next[n - 1]) {
    if (stands_at(s, i, kAnchors[n - 1].words)) return &kAnchors[n - 1];
  }
  return nullptr;
}

const Anchor& words_of_nobody() {
  static constexpr Anchor kNone{"", Producer::kWords};
  return kNone;
}

std::string_view versions_of(const Squeezed& s, std::size_t begin, std::size_t end,
                             Producer producer) {
  for (const Feature& feature : kFeatures) {
    if (feature.producer != producer || !stands_within(s, begin, end, feature.words)) continue;
    if (feature.lacks[0] != '\0' && stands_within(s, begin, end, feature.lacks)) continue;
    return feature.versions;
  }
  return {};
}

}  // namespace ledger::message
