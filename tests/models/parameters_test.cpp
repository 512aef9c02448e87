// Every preset's parameters, counted tensor by tensor, against its published configuration's count.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/data/data.hpp"
#include "core/models/decoder.hpp"
#include "core/training/program.hpp"

namespace ledger {

TEST_CASE("every preset has as many parameters as were counted for it elsewhere") {
  for (const data::File& file : data::models()) {
    const auto preset = nlohmann::json::parse(file.text);
    const std::string id = preset.at("id");
    CAPTURE(id);
    const Result<Scenario> scenario =
        read_scenario(R"({"model": ")" + id + R"(", "training": {"max_length": 1}})");
    REQUIRE(scenario.ok());
    Workings workings;
    Tape tape(workings, scenario.value().device);
    models::Decoder model;
    model.config = models::find_architecture(scenario.value().model.model_type)
                       ->configure(scenario.value().model, workings);
    models::build(tape, model, scenario.value().dtype);
    double parameters = 0;
    for (const Tensor& p : model.parameters) parameters += p.shape().elements().value();
    CHECK(parameters == preset.at("computed_parameters").get<double>());
  }
}

TEST_CASE("every model type with a file of keys has a program, and the other way round") {
  CHECK(models::architectures().size() == data::model_types().size());
  for (const data::File& file : data::model_types()) {
    CAPTURE(file.name);
    CHECK(models::find_architecture(file.name) != nullptr);
  }
}

}  // namespace ledger
