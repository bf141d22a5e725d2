/** Chinese-English word pairs: common verbs, nouns and adjectives of requests. See bilingual-software.ts. */
export const GENERAL_WORDS = `
分析=analyze|analysis 生成=generate|generation|create 创建=create 新建=create|new 制作=make|create|produce
做成=make|turn_into 添加=add 增加=add|increase 移动=move 复制=copy 查看=view|check 查找=find|search|lookup
寻找=find|search 搜一下=search 获取=get|fetch|retrieve 收集=collect|gather 读取=read 写入=write 保存=save|store
发送=send 接收=receive 回复=reply|respond 打开=open 关闭=close 启动=start|launch 停止=stop 运行=run 执行=execute|run
调用=call|invoke 触发=trigger 控制=control 管理=manage|management 维护=maintain|maintenance 处理=process|handle
解决=solve|resolve|fix 改进=improve|improvement 改善=improve 提升=improve|boost 提高=improve|increase 增强=enhance
降低=reduce|lower 减少=reduce 避免=avoid 防止=prevent 保护=protect|protection 支持=support
实现=implement|implementation 完成=complete|finish 完善=improve|refine 补充=supplement|add 补全=complete|completion
扩写=expand 缩写=abbreviate|abbreviation 精简=simplify|concise 简化=simplify 统一=unify|consistent 一致性=consistency
核对=check|verify|reconcile 确认=confirm 选择=select|choose 比较=compare|comparison 区分=distinguish
识别=identify|recognize|recognition|detect 检测=detect|detection 发现=discover|find 探索=explore 学会=learn
理解=understand 描述=describe|description 说明=explain|description 介绍=introduce|introduction
展示=show|display|showcase 显示=display|show 呈现=present 分享=share|sharing 公开=public 隐藏=hide
连接=connect|connection 集成=integrate|integration 接入=integrate|connect|integration 对接=integrate|integration
绑定=bind|binding 切换=switch|toggle 跳转=redirect|navigate 滚动=scroll 点击=click 拖拽=drag|drag-and-drop
输入框=input 按钮=button 弹窗=modal|popup|dialog 菜单=menu 导航栏=navbar|navigation 侧边栏=sidebar 登录页=login_page
列表页=list_page 详情页=detail_page 分页=pagination 加载=load|loading 刷新=refresh 筛查=screening 过滤=filter
排查问题=troubleshoot 定位问题=troubleshoot|locate|diagnose 问答=question_answering|q&a 提问=ask|question 回答=answer
咨询=consult|consulting 专家=expert 顾问=consultant|advisor 助手=assistant 助理=assistant 教练=coach|coaching
导师=mentor|tutor 管家=butler|assistant 编辑器=editor 生成器=generator 转换器=converter 分析器=analyzer
下载器=downloader 检查器=checker 管理器=manager 阅读器=reader 播放器=player 浏览=browse 访问=access|visit
服务商=provider 供应=supply 价值=value 优势=advantage|strength 劣势=weakness 机会=opportunity 挑战=challenge
影响=impact|effect 原因=cause|reason 根因=root_cause 根因分析=root_cause_analysis 结果=result|results|outcome
效果=effect|effectiveness 结论=conclusion 证据=evidence 来源=source 资料=material|data|information
信息=information|info 情报=intelligence 事实=fact 事实核查=fact-check|fact_check 核查=verify|check
真假=true|fake|authenticity 谣言=rumor 细节=detail 重点=key_point|focus 要点=key_points|bullet 核心=core
关键=key|critical 重要=important 紧急=urgent|emergency 高级=advanced|senior 初级=beginner|junior 新手=beginner|newbie
入门=beginner|getting_started|introduction 进阶=advanced 专业=professional|expert 完整=complete|full
全面=comprehensive 深度=deep|in-depth|depth 快速=quick|fast|rapid 简单=simple|easy 复杂=complex 常见=common
最佳实践=best_practice|best_practices 实践=practice 案例=case|case_study|example 示例=example|sample 例子=example
样例=sample|example 场景=scenario|scene 步骤=step|steps 阶段=phase|stage 循环=loop|cycle 条件=condition
约束=constraint 限制=limit|restriction 边界=boundary|edge 范围=scope|range 结构=structure 结构化=structured|structure
层级=hierarchy|level 级别=level 等级=level|grade 数量=quantity|number|count 数字=number|digital 日期=date 时间=time
时间线=timeline 时区=timezone 今天=today|daily 明天=tomorrow 每天=daily|everyday 每日=daily 每周=weekly 每月=monthly
年度=annual|yearly 季度=quarterly|quarter 历史记录=history 最新=latest|newest 最近=recent|latest 未来=future
长期=long-term 短期=short-term 周期=cycle|period 频率=frequency 速度=speed 大小=size 长度=length 宽度=width
高度=height 尺寸=size|dimension 位置=location|position 地址=address 名称=name 名字=name|naming 起名=naming|name
取名=naming|name 编号=number|id 身份=identity 身份证=id_card 账号=account 用户名=username 群聊=group_chat
好友=friend|contact 频道=channel 论坛=forum 网址=url|website 二维码=qr_code|qrcode 条形码=barcode
短链接=short_url|url_shortener 代码片段=snippet|code_snippet 片段=snippet|fragment|clip 素材=material|asset|assets
资源=resource|resources 资产管理=asset_management 文件管理=file_management 文件整理=organize_files|file_organization
磁盘=disk 硬盘=disk|drive 网盘=cloud_drive|cloud_storage 云盘=cloud_drive|cloud_storage 电脑=computer|pc
笔记本=laptop|notebook 屏幕=screen 键盘=keyboard 快捷键=shortcut|hotkey 快捷指令=shortcuts|shortcut 鼠标=mouse
打印机=printer 摄像头=camera|webcam 麦克风=microphone 蓝牙=bluetooth 无线=wireless|wifi 电池=battery 电源=power
温度=temperature 湿度=humidity 能力=capability|ability 角色扮演=role-play|roleplay 扮演=role-play|act_as
陪伴=companion 女友=girlfriend|companion 朋友=friend 同事=colleague|coworker 父母=parents 夫妻=couple 老人=elderly
女性=women|female 男性=men|male 年轻人=young 大学=university|college 高考=gaokao|college_entrance
考研=postgraduate_exam|graduate_exam 留学=study_abroad 申请=apply|application 申请书=application 奖学金=scholarship
志愿=volunteer|application 学校=school 班级=class 老年=senior|elderly 风格迁移=style_transfer
提炼=distill|extract|refine 蒸馏=distill|distillation 交接=handoff|handover 移交=handoff|handover
接手=take_over|handoff 并入=merge 落地=implement|landing|land 闭环=closed_loop|loop 对齐=align|alignment
拆分任务=split_task|task_breakdown 任务拆解=task_breakdown|decompose 任务管理=task_management 任务规划=task_planning
自我=self 自我进化=self-evolution|self-improvement 进化=evolve|evolution 自学习=self-learning 自我反思=self-reflection
意图=intent 意图识别=intent_recognition|intent 语义=semantic 语义搜索=semantic_search 匹配度=match|matching
相似=similar|similarity 相似度=similarity 相关=related|relevant 推断=infer|inference 估计=estimate
测量=measure|measurement 量表=scale 采样=sampling|sample 随机=random 概率=probability 分布=distribution 方差=variance
均值=mean|average 相关性=correlation 因果=causal|causality 因果推断=causal_inference 时间序列=time_series
异常检测=anomaly_detection 缺失值=missing_value 离群=outlier 优化器=optimizer 求解=solve|solver
线性规划=linear_programming 有限元=finite_element|fem 流体=fluid|cfd 网格=grid|mesh 坐标=coordinate 矩阵=matrix
方程=equation 微分方程=differential_equation 几何=geometry 三角=triangle 图像处理=image_processing
图像分割=image_segmentation 目标检测=object_detection 点云=point_cloud 激光雷达=lidar 无人机=drone|uav
机械臂=robot_arm|manipulator 控制系统=control_system 轨迹=trajectory|track 路径规划=path_planning 遥感=remote_sensing
测绘=surveying|mapping 法院=court 公安=police 税率=tax_rate 劳动合同=labor_contract|employment_contract
劳动法=labor_law 婚姻=marriage 遗嘱=will 起诉状=complaint|lawsuit 法律文书=legal_document 法律咨询=legal_advice
合同审查=contract_review 合规审查=compliance_review
`;
