// Reasons that formats share: why a key has no effect, or what it means for the estimate that it is
// not modelled.
#pragma once

#include <string_view>

namespace ledger::pasted::because {

inline constexpr std::string_view kData =
    "the data decides which tokens, not how much memory a full batch takes";
inline constexpr std::string_view kTokenizer = "the tokenizer runs on the host";
inline constexpr std::string_view kOutput = "where results go";
inline constexpr std::string_view kLogging = "logging has no effect on a step";
inline constexpr std::string_view kRate =
    "a number that scales updates; no tensor's size depends on it";
inline constexpr std::string_view kDuration =
    "how long it runs; the second step is the steady state";
inline constexpr std::string_view kSaving =
    "saving is not asked for; add \"save\" to moments to replay a checkpoint";
inline constexpr std::string_view kEvaluating =
    "evaluation is not asked for; add \"evaluate\" to moments to replay one";
inline constexpr std::string_view kSeed = "chance decides values, not sizes";
inline constexpr std::string_view kHost = "runs on the host";
inline constexpr std::string_view kLaunch = "how processes find each other";
inline constexpr std::string_view kScale = "the adapter's scale is one number";
inline constexpr std::string_view kHub = "which files are fetched";
inline constexpr std::string_view kMasked =
    "which labels count does not change the size of logits and loss";
inline constexpr std::string_view kGeneration = "how tokens are drawn, not how much is kept";

inline constexpr std::string_view kCompiled =
    "compiled code fuses operators and keeps less; the estimate is of eager code, and higher";
inline constexpr std::string_view kOffloadActivations =
    "activations on the host are not modelled; the estimate keeps them on the device, and is "
    "higher";
inline constexpr std::string_view kNoise =
    "the noise on the embedding's output is not modelled; the estimate is lower by that tensor";
inline constexpr std::string_view kFp8 =
    "training in eight bits is not modelled; the estimate takes the sixteen-bit types, and is "
    "higher";
inline constexpr std::string_view kUnsloth =
    "unsloth's kernels and checkpointing are not modelled; the estimate is of the library's own "
    "code, and higher";
inline constexpr std::string_view kPartlyTrained =
    "training a part of the model's own weights is not modelled; the estimate trains all of them, "
    "and is higher";
inline constexpr std::string_view kSplitSequence =
    "a sequence parted over processes is not modelled; the estimate holds all of it, and is higher";
inline constexpr std::string_view kSplitModel =
    "a model parted over processes in this way is not modelled; the estimate holds all of it, and "
    "is higher";
inline constexpr std::string_view kEngine =
    "the engine that generates is not taken over: its share of the card comes on top of the "
    "estimate; add serving with colocated true, or give it as device.other_bytes";
inline constexpr std::string_view kEmptyCache =
    "allocated memory stays as it is; reserved memory may be lower than estimated";
inline constexpr std::string_view kFindsBatch =
    "the batch shrinks until it fits; the estimate is of the batch that is given";
inline constexpr std::string_view kFlashAttention =
    "sdpa, which runs PyTorch's own flash kernel, needs the same or nearly the same memory";

}  // namespace ledger::pasted::because
