// Parameters of what is counted only: published counts, and PyTorch's own on small odd models.
#include "core/counts/counts.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/data/data.hpp"
#include "core/report.hpp"
#include "tests/data_file.hpp"

using namespace ledger;
using Json = nlohmann::json;

namespace {

Json answer(const std::string& model) {
  return Json::parse(estimate("{\"model\":" + model + ",\"training\":{\"max_length\":1}}"));
}

// The numbers of parameters that the assumptions' sentences say are left out.
double left_out(const Json& report) {
  double sum = 0;
  for (const std::string sentence : report.at("assumptions")) {
    const auto end = sentence.find(" parameters, are left out");
    if (end == sentence.npos) continue;
    const std::size_t start = sentence.rfind(' ', end - 1) + 1;
    std::string digits;
    for (const char c : sentence.substr(start, end - start)) {
      if (c != ',') digits += c;
    }
    sum += std::stod(digits);
  }
  return sum;
}

}  // namespace

TEST_CASE("a published model that is only counted has its published count, and a sentence why") {
  std::size_t models = 0;
  for (const data::File& file : data::counted()) {
    const Json family = Json::parse(file.text);
    CHECK(family.at("model_type") == file.name);
    REQUIRE(counts::find_counted(file.name) != nullptr);
    for (const Json& model : family.at("models")) {
      const std::string id = model.at("id");
      CAPTURE(id);
      const Json counted = answer("\"" + id + "\"");
      // A published count that holds buffers as well has the computed one beside it.
      const Json& wanted = model.at(model.contains("computed_parameters") ? "computed_parameters"
                                                                          : "published_parameters");
      REQUIRE(counted.at("problems").size() == 1);
      CHECK(counted["problems"][0].at("path") == "model");
      CHECK(counted.at("parameters").at("total") == wanted);
      CHECK(counted["problems"][0].at("message").get<std::string>().find("not modelled") !=
            std::string::npos);
      Json config = model.at("config");
      config["model_type"] = file.name;
      CHECK(answer(config.dump()) == counted);
      ++models;
    }
  }
  CHECK(models == 27);
}

// Counted by PyTorch 2.14.1 on its meta device, transformers 5.18.0: configurations in which every
// switch differs from the published ones.
TEST_CASE("small odd models have as many parameters as PyTorch counts") {
  const std::
      pair<const char*, double>
          cases
              [] =
                  {
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "bert", "max_position_embeddings": 33, "type_vocab_size": 3, "architectures": ["BertModel"]})",
                       61056},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "bert", "max_position_embeddings": 33, "type_vocab_size": 3, "architectures": ["BertForMaskedLM"]})",
                       61249},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "bert", "max_position_embeddings": 33, "type_vocab_size": 3, "architectures": ["BertForPreTraining"]})",
                       63699},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "roberta", "max_position_embeddings": 33, "type_vocab_size": 3, "architectures": ["RobertaModel"]})",
                       61056},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "roberta", "max_position_embeddings": 33, "type_vocab_size": 3, "architectures": ["RobertaForMaskedLM"]})",
                       61249},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "modernbert", "max_position_embeddings": 33, "architectures": ["ModernBertModel"]})",
                       67200},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "modernbert", "max_position_embeddings": 33, "architectures": ["ModernBertForMaskedLM"]})",
                       69649},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "modernbert", "norm_bias": true, "attention_bias": true, "mlp_bias": true, "decoder_bias": false, "classifier_bias": true, "architectures": ["ModernBertForMaskedLM"]})",
                       71184},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "deberta-v2", "type_vocab_size": 2, "relative_attention": true, "pos_att_type": "p2c|c2p", "share_att_key": false, "position_buckets": 7, "norm_rel_ebd": "layer_norm", "max_position_embeddings": 33, "position_biased_input": true, "conv_kernel_size": 3, "embedding_size": 24, "architectures": ["DebertaV2Model"]})",
                       78576},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "deberta-v2", "type_vocab_size": 0, "relative_attention": true, "pos_att_type": "c2p", "max_position_embeddings": 33, "position_biased_input": false, "architectures": ["DebertaV2Model"]})",
                       67200},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "vit", "image_size": 40, "patch_size": 8, "num_channels": 2, "qkv_bias": false, "architectures": ["ViTModel"]})",
                       61728},
                      {R"({"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "model_type": "vit", "image_size": 40, "patch_size": 8, "num_channels": 2, "id2label": {"0": "0", "1": "1", "2": "2", "3": "3", "4": "4"}, "architectures": ["ViTForImageClassification"]})",
                       60053},
                      {R"({"model_type": "t5", "vocab_size": 97, "d_model": 48, "d_kv": 8, "d_ff": 80, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4, "feed_forward_proj": "gated-gelu", "relative_attention_num_buckets": 9, "architectures": ["T5ForConditionalGeneration"]})",
                       106008},
                      {R"({"model_type": "t5", "vocab_size": 97, "d_model": 48, "d_kv": 8, "d_ff": 80, "num_layers": 3, "num_heads": 4, "architectures": ["T5ForConditionalGeneration"]})",
                       107104},
                      {R"({"model_type": "whisper", "vocab_size": 97, "d_model": 48, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 80, "decoder_ffn_dim": 70, "num_mel_bins": 20, "max_source_positions": 30, "max_target_positions": 20, "architectures": ["WhisperForConditionalGeneration"]})",
                       120908},
                  };
  for (const auto& [config, parameters] : cases) {
    const std::string model(config);  // clang 14 captures no structured bindings
    CAPTURE(model);
    const Json counted = answer(config);
    REQUIRE(counted.contains("parameters"));
    CHECK(counted.at("parameters").at("total") == parameters);
  }
}

TEST_CASE("the towers of small odd models have as many parameters as PyTorch counts") {
  const std::pair<const char*, double> cases[] = {
      {R"({"model_type": "gemma3", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "gemma3_text"}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 24, "intermediate_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 7, "vision_use_head": true}})",
       21198},
      {R"({"model_type": "gemma3", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "gemma3_text"}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 24, "intermediate_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 7, "vision_use_head": false}})",
       16252},
      {R"({"model_type": "gemma3", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "gemma3_text"}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 24, "intermediate_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 7}})",
       21198},
      {R"({"model_type": "mistral3", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "mistral"}, "vision_config": {"model_type": "pixtral", "hidden_size": 24, "intermediate_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 6, "patch_size": 7}, "vision_feature_layer": [-1, -2], "multimodal_projector_bias": true, "spatial_merge_size": 3})",
       25368},
      {R"({"model_type": "qwen3_vl", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "qwen3_vl_text"}, "vision_config": {"depth": 2, "hidden_size": 24, "intermediate_size": 50, "num_heads": 4, "in_channels": 2, "patch_size": 5, "spatial_merge_size": 3, "temporal_patch_size": 2, "out_hidden_size": 48, "num_position_embeddings": 36, "deepstack_visual_indexes": [0, 1]}})",
       186004},
      {R"({"model_type": "qwen3_5", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 16, "model_type": "qwen3_5_text"}, "vision_config": {"depth": 2, "hidden_size": 24, "intermediate_size": 50, "num_heads": 4, "in_channels": 2, "patch_size": 5, "spatial_merge_size": 3, "temporal_patch_size": 2, "out_hidden_size": 48, "num_position_embeddings": 36}})",
       70564},
      {R"({"model_type": "llama4", "text_config": {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 80, "num_key_value_heads": 2, "head_dim": 12, "model_type": "llama4_text", "num_local_experts": 2}, "vision_config": {"hidden_size": 24, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 56, "patch_size": 7, "num_channels": 2, "projector_input_dim": 40, "projector_output_dim": 40, "vision_output_dim": 40}})",
       25840},
  };
  for (const auto& [config, parameters] : cases) {
    const std::string model(config);  // clang 14 captures no structured bindings
    CAPTURE(model);
    const Json report = answer(config);
    REQUIRE(report.at("problems").empty());
    CHECK(left_out(report) == parameters);
    // The complete scenario is a scenario, and gives the same report.
    CHECK(Json::parse(estimate(report.at("scenario").dump())) == report);
  }
}

TEST_CASE("a text part and what is left out beside it are the published count together") {
  std::size_t models = 0;
  for (const data::File& file : data::models()) {
    const Json preset = data_file("models", file.name);
    if (!preset.at("config").contains("text_config")) continue;
    CAPTURE(file.name);
    const Json by_id = answer(preset.at("id").dump());
    REQUIRE(by_id.at("problems").empty());
    const double whole = by_id.at("parameters").at("total").get<double>() + left_out(by_id);
    CHECK(whole == preset.at("published_parameters").at("count").get<double>());
    // Its config.json, pasted, is the same model.
    const Json pasted = answer(preset.at("config").dump());
    REQUIRE(pasted.at("problems").empty());
    CHECK(pasted.at("peak") == by_id.at("peak"));
    CHECK(left_out(pasted) == left_out(by_id));
    CHECK(Json::parse(estimate(pasted.at("scenario").dump())) == pasted);
    ++models;
  }
  CHECK(models == 19);
}

TEST_CASE("what is wrong in one part of a model of several is placed there") {
  const std::string config =
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 0},
          "vision_config": {"hidden_size": "wide"}})";
  const Json first = answer(config);
  REQUIRE(first.at("problems").size() == 1);
  CHECK(first["problems"][0].at("path") == "model.text_config.hidden_size");
  const Json second = answer(R"({"model_type": "gemma3", "text_config": {},
                                 "vision_config": {"hidden_size": "wide"}})");
  REQUIRE(second.at("problems").size() == 1);
  CHECK(second["problems"][0].at("path") == "model.vision_config.hidden_size");
  const Json third =
      answer(R"({"model_type": "mistral3", "text_config": {"model_type": "mistrall"}})");
  CHECK(third.at("problems")[0].at("path") == "model.text_config.model_type");
  CHECK(third["problems"][0].at("nearest") == "mistral");
}

TEST_CASE("a count beyond what a number holds exactly is refused") {
  const Json huge =
      answer(R"({"model_type": "bert", "hidden_size": 100000000, "num_hidden_layers": 100})");
  CHECK_FALSE(huge.contains("parameters"));
  CHECK(huge.at("problems").size() == 1);
  const Json wrong = answer(R"({"model_type": "t5", "d_model": -1, "d_ff": 1.5})");
  CHECK_FALSE(wrong.contains("parameters"));
  CHECK(wrong.at("problems")[0].at("path") == "model.d_model");
}
