// The formats of core/import, each one file of rows.
#pragma once

#include "core/import/sheet.hpp"

namespace ledger::pasted {

Format axolotl_format();
Format llama_factory_format();
Format trainer_format();
Format deepspeed_format();
Format accelerate_format();
Format deepspeed_plugin_format();  // within accelerate's, never by itself
Format torchtune_format();
Format verl_format();
Format config_format();
Format adapter_format();

}  // namespace ledger::pasted
