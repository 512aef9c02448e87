CUDA_VISIBLE_DEVICES=0 accelerate launch --num_processes 1 --mixed_precision=bf16 \
  examples/scripts/sft.py \
  --model_name_or_path "meta-llama/Llama-3.2-1B" \
  --dataset_name example/chats --max_length=4096 --packing \
  --per-device-train-batch-size 2 --gradient_accumulation_steps 4 \
  --gradient_checkpointing True --use_peft --lora_r 16 \
  --lora_target_modules q_proj k_proj v_proj o_proj \
  --load_in_4bit --dtype bfloat16 --learning_rate 2e-4 --output_dir out
